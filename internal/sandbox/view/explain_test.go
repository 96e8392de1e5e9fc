package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsLeftOut(t *testing.T) {
	b := newDecoy(t).builder()
	b.leave("/x/b", "/x/b: it is closed")
	b.leave("/x/b/bin", "/x/b/bin: it is closed")
	b.leave("/x/b/lib", "another reason")
	b.leave("/x/bb", "it is closed")
	b.leave("/x/a", "/x/b: names another place")
	want := []Left{
		{"/x/a", "/x/b: names another place"}, {"/x/b", "it is closed"}, {"/x/b/lib", "another reason"}, {"/x/bb", "it is closed"},
	}
	if diff := cmp.Diff(want, outermost(b.shared.left)); diff != "" {
		t.Error(diff)
	}
}
