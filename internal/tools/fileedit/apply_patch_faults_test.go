package fileedit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/testkit"
	"garuda/internal/workspace"
)

// faultyDisk fails at one change, before it is made or afterwards, as a disk does
// that cannot save the folder.
type faultyDisk struct {
	*workspace.Workspace
	left   int // changes that work
	before bool
}

func (d *faultyDisk) fails(p workspace.Path, change func() error) error {
	d.left--
	if d.left == -1 && d.before {
		return &workspace.PathError{Doing: "write", Path: p.Rel, Err: testkit.ErrFull}
	}
	err := change()
	if err == nil && d.left == -1 {
		return &workspace.UnsavedError{Path: p.Rel, Err: testkit.ErrIO}
	}
	return err
}

func (d *faultyDisk) Create(p workspace.Path, data []byte) (out *workspace.Written, err error) {
	err = d.fails(p, func() error { out, err = d.Workspace.Create(p, data); return err })
	return out, err
}

func (d *faultyDisk) CreateAs(p workspace.Path, data []byte, mode fs.FileMode) (out *workspace.Written, err error) {
	err = d.fails(p, func() error { out, err = d.Workspace.CreateAs(p, data, mode); return err })
	return out, err
}

func (d *faultyDisk) Remove(p workspace.Path, was workspace.Info) error {
	return d.fails(p, func() error { return d.Workspace.Remove(p, was) })
}

func (d *faultyDisk) Move(from, to workspace.Path, was workspace.Info) (out *workspace.Written, err error) {
	err = d.fails(from, func() error { out, err = d.Workspace.Move(from, to, was); return err })
	return out, err
}

func (d *faultyDisk) Replace(p workspace.Path, was workspace.Info, data []byte) (out *workspace.Written, err error) {
	err = d.fails(p, func() error { out, err = d.Workspace.Replace(p, was, data); return err })
	return out, err
}

// Whichever step fails, before or after it changed something, all is put back.
func TestPatchIsPutBackAfterEachStep(t *testing.T) {
	files := map[string]string{"a": "a\r\nx\xff\n", "b": "b\n", "c": "c", "d": "d\n", "e": "e\n"}
	for _, before := range []bool{true, false} {
		for step := range 7 {
			t.Run(fmt.Sprintf("%d %v", step, before), func(t *testing.T) {
				env := newEnv(t, files)
				for path := range files {
					read(t, env, path)
					if err := os.Chmod(filepath.Join(env.Workspace.Root(), path), 0o640); err != nil {
						t.Fatal(err)
					}
				}
				p := plan(t, env, applyPatch{}, patchOf("*** Delete File: c", "*** Add File: n1/n2/new", "+n", "*** Update File: a", "-a", "+A",
					"*** Update File: b", "*** Move to: n1/m/moved", "-b", "+B", "*** Update File: e", "*** Move to: f", "*** Delete File: d"))
				call, _ := p.Input.(*patchCall)
				a := &applying{w: &faultyDisk{Workspace: env.Workspace, left: step, before: before}}
				if err := a.all(call.files); err == nil || !errors.Is(err, testkit.ErrFull) && !errors.Is(err, testkit.ErrIO) {
					t.Fatalf("the step did not fail: %v", err)
				}
				if err := a.putBack(); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(files, tree(t, env)); d != "" {
					t.Error(d)
				}
				if _, err := os.Stat(filepath.Join(env.Workspace.Root(), "n1")); err == nil {
					t.Error("folders that were made stay")
				}
				for path := range files {
					if info, err := os.Stat(filepath.Join(env.Workspace.Root(), path)); err != nil || info.Mode().Perm() != 0o640 {
						t.Errorf("the mode of %s: %v, %v", path, info, err)
					}
				}
			})
		}
	}
}

// Hunks that touch are one place, also at the end of a text without a newline.
func TestHunksThatTouch(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		hunks      []string
	}{
		{"x\na\nb", "x", []string{"@@", "-a", "@@", "-b"}},
		{"a\nb", "", []string{"@@", "-a", "@@", "-b"}},
		{"x\na\nb", "x\nc", []string{"@@", "-a", "+c", "@@", "-b"}},
		{"x\nb", "x\nc", []string{"@@", "-b", "@@", "+c"}},
		{"x\nb", "x\nb\nc\nd", []string{"@@", "+c", "@@", "+d"}},
		{"x\ny\nb", "y", []string{"@@", "-x", "@@", "-b"}},
		{"a\n\n", "b\n\n", []string{"@@", "-a", "+b", "", "*** End of File"}},
	} {
		env := newEnv(t, map[string]string{"f": tt.text})
		read(t, env, "f")
		// What stands behind the hunks must not matter.
		mustRun(t, env, applyPatch{}, patchOf("*** Update File: f\n"+strings.Join(tt.hunks, "\n"), "*** Add File: g", "+g"))
		if got := tree(t, env)["f"]; got != tt.want {
			t.Errorf("%q with %q: %q, want %q", tt.text, tt.hunks, got, tt.want)
		}
	}
}
