package view

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/sandbox"
)

func TestHidden(t *testing.T) {
	d := newDecoy(t)
	added := filepath.Join(d.dir, "added")
	for _, path := range []string{
		"secrets/a", "x/y/key.pem", "node_modules/m/key.pem", ".git/deep/key.pem", ".env.local", "data/private/x", "data/public/x", "kept.txt", ".claude/key.pem", "real/target",
	} {
		d.file(filepath.Join(d.root, path), "")
	}
	d.file(filepath.Join(added, "private", "x"), "")
	d.file(filepath.Join(added, "b.pem"), "")
	d.file(filepath.Join(d.home, "tools", "bin", "token"), "")
	d.link(filepath.Join(d.root, "real", "target"), filepath.Join(d.root, "named.pem"))
	d.link(d.home, filepath.Join(d.root, "out"))
	d.opt.Added = []string{added}
	d.opt.Read = []Place{{filepath.Join(d.home, "tools"), "tools"}}
	d.opt.Deny = []string{"secrets/", "*.pem", "data/private", "~/tools/bin/token", "//etc/none", ".env.*"}
	b := d.builder()
	for _, plan := range []bool{false, true} {
		v := viewOf(t, b, &sandbox.Command{ReadOnlyRoot: plan})
		own := "write"
		if plan {
			own = "read"
		}
		want := map[string]string{filepath.Join(added, "b.pem"): "hidden", filepath.Join(added, "private", "x"): "read", filepath.Join(d.home, "tools", "bin", "token"): "hidden", filepath.Join(d.home, "tools", "bin"): "read"}
		for path, access := range map[string]string{
			"secrets/a": "hidden", "x/y/key.pem": "hidden", "node_modules/m/key.pem": "hidden", ".git/deep/key.pem": "hidden", ".env.local": "hidden",
			"data/private": "hidden", "data/public/x": own, "kept.txt": own, "real/target": "hidden", ".claude/key.pem": "hidden",
		} {
			want[filepath.Join(d.root, path)] = access
		}
		expect(t, v, want)
	}
	d.file(filepath.Join(d.root, "later.pem"), "")
	expect(t, viewOf(t, b, &sandbox.Command{}), map[string]string{filepath.Join(d.root, "later.pem"): "hidden"})
}

func TestTooManyHidden(t *testing.T) {
	d := newDecoy(t)
	for i := range maxHidden + 1 {
		d.file(filepath.Join(d.root, fmt.Sprint(i%7), fmt.Sprintf("%d.pem", i)), "")
	}
	d.opt.Deny = []string{"*.pem"}
	if _, err := d.builder().View(t.Context(), &sandbox.Command{}); !errors.Is(err, ErrTooManyHidden) {
		t.Errorf("the error is %v", err)
	}
	d.opt.Deny = []string{"1/*.pem"}
	expect(t, d.view(), map[string]string{filepath.Join(d.root, "1", "1.pem"): "hidden", filepath.Join(d.root, "2", "2.pem"): "write"})
}

func TestHidingTheProject(t *testing.T) {
	d := newDecoy(t)
	for _, pattern := range []string{"/" + d.root, "~/src", "//**"} {
		d.opt.Deny = []string{pattern}
		d.opt.WritePaths = []string{"~/src"}
		if _, err := d.builder().View(t.Context(), &sandbox.Command{}); err == nil || !strings.Contains(err.Error(), "project itself") && !errors.Is(err, ErrTooManyHidden) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	d.opt.Deny = []string{"../x"}
	if _, err := NewBuilder(d.opt); err == nil {
		t.Error("a pattern that cannot be read was taken")
	}
}

func TestHidingEndsWithItsContext(t *testing.T) {
	d := newDecoy(t)
	d.opt.Deny = []string{"*.pem"}
	b := d.builder()
	viewOf(t, b, &sandbox.Command{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.hidden(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// A folder that cannot be listed by its path could hold what must be hidden.
func TestHidingBeyondPaths(t *testing.T) {
	d := newDecoy(t)
	d.opt.Deny = []string{"*.pem"}
	d.deep(d.root, 3000)
	if _, err := d.builder().View(t.Context(), &sandbox.Command{}); err == nil {
		t.Error("a command would run")
	}
	if err := removeTree(filepath.Join(d.root, "dd")); err != nil { // the test's own folder is removed by paths
		t.Fatal(err)
	}
}
