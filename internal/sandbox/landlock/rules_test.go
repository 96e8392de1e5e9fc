package landlock_test

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/landlock"
)

const (
	reads  = landlock.Execute | landlock.ReadFile | landlock.ReadDir
	writes = landlock.WriteFile | landlock.RemoveDir | landlock.RemoveFile | landlock.MakeDir | landlock.MakeReg |
		landlock.MakeSock | landlock.MakeFifo | landlock.MakeSym | landlock.Refer | landlock.Truncate
)

// machine lists folders of a made-up machine.
func machine(files ...string) func(string) ([]fs.DirEntry, error) {
	m := fstest.MapFS{}
	for _, f := range files {
		mode := fs.FileMode(0o644)
		if name, ok := strings.CutSuffix(f, "@"); ok {
			f, mode = name, fs.ModeSymlink
		}
		m[strings.TrimPrefix(f, "/")] = &fstest.MapFile{Mode: mode}
	}
	return func(dir string) ([]fs.DirEntry, error) {
		if dir == "/" {
			dir = "/."
		}
		return fs.ReadDir(m, dir[1:])
	}
}

// ofView leaves out what every command gets.
func ofView(t *testing.T, v *sandbox.View, list func(string) ([]fs.DirEntry, error)) []landlock.Rule {
	t.Helper()
	rules, err := landlock.Rules(v, list)
	if err != nil {
		t.Fatal(err)
	}
	always, err := landlock.Rules(&sandbox.View{}, list)
	if err != nil || len(always) == 0 {
		t.Fatalf("%v, %v", always, err)
	}
	return rules[:len(rules)-len(always)]
}

func TestRules(t *testing.T) {
	v := &sandbox.View{Root: "/w", Entries: []sandbox.Entry{
		{Path: "/home/u", Source: "/s/home", Access: sandbox.Writable},
		{Path: "/tmp", Source: "/s/tmp", Access: sandbox.Writable},
		{Path: "/usr", Access: sandbox.ReadOnly},
		{Path: "/w", Access: sandbox.Writable},
		{Path: "/w/.env", Access: sandbox.Masked},
		{Path: "/w/.garuda", Access: sandbox.Locked, Missing: true, Folder: true},
		{Path: "/w/.git/config", Access: sandbox.Locked},
		{Path: "/w/.git/hooks", Access: sandbox.Locked},
		{Path: "/w/src/AGENTS.md", Access: sandbox.Locked},
	}}
	list := machine("/w/.env", "/w/.git/config", "/w/.git/hooks/x", "/w/.git/objects/a", "/w/.git/HEAD", "/w/README", "/w/link@",
		"/w/src/AGENTS.md", "/w/src/main.go", "/w/doc/a")
	want := []landlock.Rule{
		{"/s/home", reads | writes},
		{"/s/tmp", reads | writes},
		{"/usr", reads},
		{"/w", landlock.ReadDir},
		{"/w/.git", reads &^ landlock.ReadDir},
		{"/w/.git/HEAD", writes},
		{"/w/.git/objects", writes},
		{"/w/README", reads&^landlock.ReadDir | writes},
		{"/w/doc", reads&^landlock.ReadDir | writes},
		{"/w/src", reads &^ landlock.ReadDir},
		{"/w/src/main.go", writes},
		{"/w/.git/config", reads},
		{"/w/.git/hooks", reads},
		{"/w/src/AGENTS.md", reads},
	}
	if diff := cmp.Diff(want, ofView(t, v, list)); diff != "" {
		t.Error(diff)
	}
	v.Entries = []sandbox.Entry{{Path: "/w", Access: sandbox.ReadOnly}, {Path: "/w/out", Access: sandbox.Writable}}
	want = []landlock.Rule{{"/w", reads}, {"/w/out", reads | writes}}
	if diff := cmp.Diff(want, ofView(t, v, list)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatHasNoRules(t *testing.T) {
	broken := errors.New("a disk does not answer")
	locked := &sandbox.View{Entries: []sandbox.Entry{{Path: "/w", Access: sandbox.Writable}, {Path: "/w/x", Access: sandbox.Locked}}}
	if _, err := landlock.Rules(locked, func(string) ([]fs.DirEntry, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	var many []string
	for i := range 20_001 {
		many = append(many, "/w/f"+strconv.Itoa(i))
	}
	if _, err := landlock.Rules(locked, machine(many...)); !errors.Is(err, landlock.ErrTooMany) {
		t.Error(err)
	}
	for _, p := range []string{"w", "/w/../x", "/w/"} {
		if _, err := landlock.Rules(&sandbox.View{Entries: []sandbox.Entry{{Path: p}}}, machine()); err == nil {
			t.Errorf("%q was taken", p)
		}
	}
	if rules := ofView(t, locked, machine("/other")); len(rules) != 2 {
		t.Errorf("a project that is not there: %v", rules)
	}
}

// granted is what Landlock allows for a path: the union of the rules above it.
func granted(rules []landlock.Rule, p string) landlock.Access {
	var all landlock.Access
	for _, r := range rules {
		if r.Path == p || strings.HasPrefix(p, strings.TrimSuffix(r.Path, "/")+"/") {
			all |= r.Access
		}
	}
	return all
}

// No rule gives more than the view does, whatever lies where; and what lies in
// something writable can be written, unless that would open something locked.
func TestRulesGiveNoMoreThanTheView(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", ".git", "c"})
	place := rapid.Map(rapid.SliceOfN(name, 1, 4), func(parts []string) string { return "/w/" + strings.Join(parts, "/") })
	rapid.Check(t, func(t *rapid.T) {
		v := &sandbox.View{Root: "/w"}
		for p := range rapid.MapOfN(place, rapid.Just(true), 0, 10).Draw(t, "entries") {
			access := rapid.SampledFrom([]sandbox.Access{sandbox.ReadOnly, sandbox.Writable, sandbox.Writable, sandbox.Locked, sandbox.Masked}).Draw(t, "access")
			v.Entries = append(v.Entries, sandbox.Entry{Path: p, Access: access})
		}
		var files []string
		for p := range rapid.MapOfN(place, rapid.Just(true), 0, 12).Draw(t, "files") {
			files = append(files, p+"/file")
		}
		rules, err := landlock.Rules(v, machine(files...))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append(files, place.Draw(t, "another")) {
			for p := f; p != "/"; p = path.Dir(p) {
				access := sandbox.Masked
				for q := p; q != "/" && access == sandbox.Masked; q = path.Dir(q) {
					for _, e := range v.Entries {
						if e.Path == q {
							access = e.Access
						}
					}
					if holds(v, q) {
						break
					}
				}
				got := granted(rules, p)
				if access != sandbox.Writable && got&writes != 0 {
					t.Fatalf("%s is %v and gets %#x", p, access, got)
				}
				if access == sandbox.Masked && got&(reads&^landlock.ReadDir) != 0 {
					t.Fatalf("%s is hidden and gets %#x", p, got)
				}
				if access == sandbox.Writable && p == f && strings.HasSuffix(f, "/file") && got&landlock.WriteFile == 0 {
					t.Fatalf("%s can be written and gets %#x", p, got)
				}
			}
		}
	})
}

// holds reports whether the view has an entry for a path.
func holds(v *sandbox.View, p string) bool {
	for _, e := range v.Entries {
		if e.Path == p {
			return true
		}
	}
	return false
}

func TestHandled(t *testing.T) {
	if landlock.Handled(3)&landlock.IoctlDev != 0 || landlock.Handled(5)&landlock.IoctlDev == 0 {
		t.Error("ioctl on devices is handled since version 5")
	}
	if all := landlock.Handled(landlock.Least); all&(reads|writes) != reads|writes {
		t.Errorf("%#x leaves something open", all)
	}
}

func TestWeaknessesOfOlderKernelsAreMore(t *testing.T) {
	for version, want := range map[int]string{3: "no network at all", 5: "one by one", 7: "port number"} {
		if text := strings.Join(landlock.Weaknesses(version), "\n"); !strings.Contains(text, want) || strings.Contains(text, "one by one") != (version < 6) {
			t.Errorf("version %d: %s", version, text)
		}
	}
}
