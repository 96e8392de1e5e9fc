package proc

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const statTail = " 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 10 11 12"

func TestParseStat(t *testing.T) {
	allow := cmp.AllowUnexported(entry{})
	for line, want := range map[string]entry{
		"12 (sh) S 3 4 5 0 -1" + statTail:                {pid: 12, parent: 3, group: 4, session: 5, start: 98765},
		"12 (a) Z 9 (b) ) Z 3 4 5 0 -1" + statTail:       {pid: 12, parent: 3, group: 4, session: 5, start: 98765, zombie: true},
		"12 (line\nfeed) R 3 4 5 0 -1" + statTail + "\n": {pid: 12, parent: 3, group: 4, session: 5, start: 98765},
	} {
		got, err := parseStat(line)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if diff := cmp.Diff(want, got, allow); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
	for _, line := range []string{"", "12", "12 (sh", "12 (sh) S 3", ") (", "x (sh) S 3 4 5 0 -1" + statTail} {
		if e, err := parseStat(line); err == nil {
			t.Errorf("%q: got %+v", line, e)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("12 (sh) S 3 4 5 0 -1" + statTail)
	f.Add("12 ((a) b)) Z 3")
	f.Fuzz(func(t *testing.T, line string) {
		e, err := parseStat(line)
		if err != nil && e != (entry{}) {
			t.Errorf("%q: an error and %+v", line, e)
		}
	})
}

func TestOwnEntry(t *testing.T) {
	e, err := processEntry(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if e.pid != os.Getpid() || e.parent != os.Getppid() || e.session != ownSession() || e.start == 0 || e.zombie {
		t.Errorf("got %+v", e)
	}
}

func TestChildrenAreTheSameEitherWay(t *testing.T) {
	quick, err := children()
	if err != nil {
		t.Fatal(err)
	}
	slow, err := childrenByParent()
	if err != nil {
		t.Fatal(err)
	}
	if len(quick) != len(slow) {
		t.Errorf("by the kernel's list %v, by parents %v", quick, slow)
	}
}
