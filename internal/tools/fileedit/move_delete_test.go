package fileedit

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/tool"
)

func TestMoveAndDelete(t *testing.T) {
	env := newEnv(t, map[string]string{"a": "a\n", "b": "b\n", "d/e": "e\n", "x.key": "secret"})
	read(t, env, "a")
	if got := mustRun(t, env, moveFile{}, args{"from": "a", "to": "new/dir/a2"}); got != "Moved a to new/dir/a2. New folders: new, new/dir." {
		t.Error(got)
	}
	// What was read stays read under the new name.
	mustRun(t, env, editFile{}, args{"path": "new/dir/a2", "old_string": "a", "new_string": "A"})
	if got := mustRun(t, env, deleteFile{}, args{"path": "b"}); got != "Deleted b." {
		t.Error(got)
	}
	for _, tt := range []struct {
		in   args
		want string
	}{
		{args{"from": "d", "to": "f"}, "d is a folder"},
		{args{"from": "d/e", "to": "new/dir/a2"}, "new/dir/a2 is there already"},
		{args{"from": "d/e", "to": "new"}, "new is a folder; name the new path"},
		{args{"from": "gone", "to": "f"}, "gone does not exist"},
		{args{"from": "d/e", "to": "../f"}, "outside the project"},
	} {
		wantError(t, env, moveFile{}, tt.in, tt.want)
	}
	wantError(t, env, deleteFile{}, args{"path": "d"}, "d is a folder")
	wantError(t, env, deleteFile{}, args{"path": "gone"}, "gone does not exist")
	wantError(t, env, deleteFile{}, args{"path": "."}, "is a folder")
	want := map[string]string{"new/dir/a2": "A\n", "d/e": "e\n", "x.key": "secret"}
	if d := cmp.Diff(want, tree(t, env)); d != "" {
		t.Error(d)
	}
}

// Neither plan shows what a hidden file holds, and both name every path that the
// decision is about.
func TestMoveAndDeletePlans(t *testing.T) {
	env := newEnv(t, map[string]string{"a": "text\n", "x.key": "secret\n"})
	p := plan(t, env, deleteFile{}, args{"path": "x.key"})
	if p.Preview != "delete x.key" || p.Effects.Changes[0].Old != nil || !p.Destructive {
		t.Errorf("%+v", p)
	}
	p = plan(t, env, moveFile{}, args{"from": "x.key", "to": "b"})
	root := env.Workspace.Root()
	if d := cmp.Diff([]string{filepath.Join(root, "x.key"), filepath.Join(root, "b")}, p.Effects.Writes); d != "" {
		t.Error(d)
	}
	if p = plan(t, env, deleteFile{}, args{"path": "a"}); p.Preview == "delete a" {
		t.Error("the approval of a deletion does not show what goes")
	}
}

// What is moved could be read under its new name, so rules about reading hold.
func TestMovesRead(t *testing.T) {
	env := newEnv(t, map[string]string{"a": "a\n", "b": "b\n"})
	read(t, env, "a")
	for _, p := range []*tool.Plan{
		plan(t, env, moveFile{}, args{"from": "a", "to": "c"}),
		plan(t, env, applyPatch{}, patchOf("*** Update File: a", "*** Move to: c")),
	} {
		if want := []string{filepath.Join(env.Workspace.Root(), "a")}; !slices.Equal(p.Effects.Reads, want) {
			t.Errorf("it reads %v, want %v", p.Effects.Reads, want)
		}
	}
}
