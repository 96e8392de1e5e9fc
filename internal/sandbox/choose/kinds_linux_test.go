package choose

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/proc"
	"garuda/internal/sandbox/bwrap"
	"garuda/internal/sandbox/landlock"
	"garuda/internal/sandbox/wrapped"
)

// Each kind passes its trial on a machine that has what it needs, and where the better
// ones fail the next is taken.
func TestEachKindInItsTurn(t *testing.T) {
	sup, err := proc.New(proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sup.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	all := kinds()
	if diff := cmp.Diff([]string{"linux", "bwrap", "landlock"}, Names()); diff != "" {
		t.Error(diff)
	}
	for i, k := range all {
		opt := wrapped.Options{Supervisor: sup, Records: t.TempDir()}
		err := try(t.Context(), opt, k)
		if slices.ContainsFunc([]error{bwrap.ErrMissing, bwrap.ErrTooOld, landlock.ErrTooOld}, func(e error) bool { return errors.Is(err, e) }) {
			t.Logf("%s is not on this machine: %v", k.name, err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", k.name, err)
			continue
		}
		refused := kindOf(&fake{name: "refused", err: errors.New("it is refused"), ended: new(int)}, "allow it")
		e, s := first(t.Context(), opt, append([]kind{refused}, all[i:]...))
		if e == nil || e.Name() != k.name || s.Backend != k.name || s.Notice() == "" {
			t.Errorf("%s: %v, %+v", k.name, e, s)
			continue
		}
		if err := e.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
