package stage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// InnerStepNames are the steps that can fail, in their order.
func InnerStepNames() []string {
	var names []string
	for _, s := range (&inner{}).steps() {
		names = append(names, s.name)
	}
	return names
}

func someInner() *Inner {
	return &Inner{
		Policy: Policy{Argv: []string{"true"}, Env: []string{"A=b"}, Dir: "/project", Processes: 512},
		Places: []Place{{Path: "/project", Device: 1, Inode: 2}, {Path: "/usr", ReadOnly: true}, {Path: "/dev/null", Devices: true}},
	}
}

func TestAnInnerStageIsReadAsItWasWritten(t *testing.T) {
	b, err := someInner().Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeInner(b)
	if diff := cmp.Diff(someInner(), got); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	rapid.Check(t, func(t *rapid.T) {
		if cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut"); true {
			if _, err := decodeInner(b[:cut]); err == nil {
				t.Fatalf("%d of %d bytes are taken too", cut, len(b))
			}
		}
	})
	for name, change := range map[string]func(*Inner){
		"a mount":          func(i *Inner) { i.Policy.Mounts = []Mount{{Path: "/usr"}} },
		"a link":           func(i *Inner) { i.Policy.Links = []Link{{"/bin", "usr/bin"}} },
		"a relative place": func(i *Inner) { i.Places[0].Path = "project" },
		"no program":       func(i *Inner) { i.Policy.Argv = nil },
	} {
		i := someInner()
		change(i)
		b, err := i.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeInner(b); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func FuzzInner(f *testing.F) {
	b, err := someInner().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		i, err := decodeInner(b)
		if err != nil {
			return
		}
		again, err := i.Encode()
		if err != nil || string(again) != string(b) {
			t.Errorf("%q is written as %q, %v", b, again, err)
		}
	})
}
