package workspace

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func snap(content byte) Snapshot { return Snapshot{Size: 1, Hash: [32]byte{content}} }

func TestTracker(t *testing.T) {
	tr := NewTracker()
	if got := tr.Status("f", snap('a')); got != Unread {
		t.Errorf("status %v", got)
	}
	tr.Record("f", Read{Snapshot: snap('a'), Asked: Lines{1, 2000}, Got: []Lines{{1, 10}}, Total: 30})
	if tr.Status("f", snap('a')) != Current || tr.Status("f", snap('b')) != Changed {
		t.Error("status after a read")
	}
	if tr.Whole("f", snap('a')) {
		t.Error("10 of 30 lines are not all")
	}
	tr.Record("f", Read{Snapshot: snap('a'), Asked: Lines{21, 30}, Got: []Lines{{21, 30}}, Total: 30})
	if tr.Whole("f", snap('a')) {
		t.Error("a gap is not read")
	}
	tr.Record("f", Read{Snapshot: snap('a'), Asked: Lines{11, 20}, Got: []Lines{{11, 20}}, Total: 30})
	if !tr.Whole("f", snap('a')) || tr.Whole("f", snap('b')) {
		t.Error("ranges add up, but only of the same contents")
	}
	if !tr.Shown("f", Lines{11, 20}, snap('a')) || tr.Shown("f", Lines{11, 20}, snap('b')) || tr.Shown("f", Lines{11, 21}, snap('a')) {
		t.Error("shown")
	}
	tr.ClearShown()
	if tr.Shown("f", Lines{11, 20}, snap('a')) || !tr.Whole("f", snap('a')) {
		t.Error("after ClearShown the lines are read but not shown")
	}
	tr.Record("f", Read{Snapshot: snap('b'), Asked: Lines{1, 5}, Got: []Lines{{1, 5}}, Total: 30})
	if tr.Whole("f", snap('b')) || tr.Status("f", snap('b')) != Current {
		t.Error("a read of changed contents starts anew")
	}
	tr.Wrote("f", snap('c'))
	if !tr.Whole("f", snap('c')) {
		t.Error("what was written is known")
	}
	tr.Record("empty", Read{Snapshot: Snapshot{}, Asked: Lines{1, 2000}})
	if !tr.Whole("empty", Snapshot{}) {
		t.Error("an empty file is read as a whole")
	}
	tr.Forget()
	if tr.Status("f", snap('c')) != Unread {
		t.Error("forgotten")
	}
}

func TestTrackerEdited(t *testing.T) {
	for _, tc := range []struct {
		name  string
		read  []Lines
		edits []LineEdit
		want  []Lines
	}{
		{"after the edit lines move", []Lines{{1, 5}, {20, 30}}, []LineEdit{{Lines{3, 3}, 4}}, []Lines{{1, 8}, {23, 33}}},
		{"lines go", []Lines{{1, 30}}, []LineEdit{{Lines{10, 19}, 1}}, []Lines{{1, 21}}},
		{"two edits", []Lines{{10, 12}}, []LineEdit{{Lines{10, 10}, 2}, {Lines{12, 12}, 2}}, []Lines{{10, 14}}},
		{"new lines of an unread place count", []Lines{{1, 2}}, []LineEdit{{Lines{50, 50}, 3}}, []Lines{{1, 2}, {50, 52}}},
	} {
		tr := NewTracker()
		tr.Record("f", Read{Snapshot: snap('a'), Got: tc.read, Total: 100})
		tr.Edited("f", snap('a'), snap('b'), tc.edits)
		if diff := cmp.Diff(tc.want, tr.Seen("f")); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
		if tr.Status("f", snap('b')) != Current {
			t.Errorf("%s: not current", tc.name)
		}
	}
	tr := NewTracker()
	tr.Record("f", Read{Snapshot: snap('a'), Got: []Lines{{1, 100}}, Total: 100})
	tr.Edited("f", snap('x'), snap('b'), []LineEdit{{Lines{3, 3}, 1}})
	if tr.Whole("f", snap('b')) {
		t.Error("an edit of another state made the whole file known")
	}
}

// Merging keeps exactly the lines that are in some range.
func TestMergeLinesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Lines {
			return Lines{rapid.IntRange(1, 30).Draw(t, "from"), rapid.IntRange(0, 30).Draw(t, "to")}
		})).Draw(t, "ranges")
		want := map[int]bool{}
		for _, l := range in {
			for n := l.From; n <= l.To; n++ {
				want[n] = true
			}
		}
		got, last := map[int]bool{}, -1
		for _, l := range mergeLines(in) {
			if l.From <= last+1 {
				t.Fatalf("ranges touch: %v", in)
			}
			for n := l.From; n <= l.To; n++ {
				got[n] = true
			}
			last = l.To
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestTrackerConcurrent(t *testing.T) {
	tr := NewTracker()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 200 {
				tr.Record("f", Read{Snapshot: snap('a'), Asked: Lines{i, n}, Got: []Lines{{n, n + 1}}, Total: 500})
				tr.Status("f", snap('a'))
				tr.Shown("f", Lines{i, n}, snap('a'))
				tr.Whole("f", snap('a'))
				tr.Seen("f")
			}
			tr.ClearShown()
		})
	}
	wg.Wait()
}
