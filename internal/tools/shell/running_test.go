//go:build unix

package shell

import (
	"errors"
	"strings"
	"testing"
)

func TestListAndStop(t *testing.T) {
	env, b, tools := backgroundTools(t)
	if got := b.List(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	must(t, env, tools["bash"], map[string]any{"command": "sleep 1000", "run_in_background": true})
	list := b.List()
	if len(list) != 1 || list[0].ID != "b1" || list[0].Text != "sleep 1000" || list[0].Pid <= 0 || !list[0].Running {
		t.Fatalf("%+v", list)
	}
	if _, err := b.Stop(t.Context(), "b2"); !errors.Is(err, ErrNoCommand) || !strings.Contains(err.Error(), "running: b1") {
		t.Errorf("%v", err)
	}
	said, err := b.Stop(t.Context(), "b1")
	if err != nil || said != "b1 and everything it started were ended." {
		t.Errorf("%q, %v", said, err)
	}
	if got := b.List()[0]; got.Running || !strings.HasPrefix(got.State, "ended by SIGTERM after ") {
		t.Errorf("%+v", got)
	}
	if said, err = b.Stop(t.Context(), "b1"); err != nil || !strings.HasPrefix(said, "b1 had ended already: ended by SIGTERM") {
		t.Errorf("%q, %v", said, err)
	}
}
