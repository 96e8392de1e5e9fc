package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// walkAll returns what a walk visits, sorted; folders end in a slash and links in @.
func walkAll(t testing.TB, w *Workspace, from string, opt WalkOptions) ([]string, *WalkReport) {
	t.Helper()
	var mu sync.Mutex
	var got []string
	report, err := w.Walk(context.Background(), mustResolve(t, w, from), opt, func(worker int, e *Entry) error {
		if worker < 0 || worker >= WalkWorkers() {
			t.Errorf("worker %d", worker)
		}
		name := e.Path().Rel
		switch e.Kind {
		case KindFolder:
			name += "/"
		case KindLink:
			name += "@"
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	return got, report
}

func TestWalk(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		for path, text := range map[string]string{
			".git/config": "", ".git/info/exclude": "excluded\n", ".gitignore": "*.o\n/build/\n", ".hidden": "",
			"a.go": "", "a.o": "", "build/out": "", "excluded": "", "src/b.go": "", "src/b.o": "",
			"src/.gitignore": "!keep.o\n", "src/keep.o": "", "src/deep/er/c.go": "",
			"node_modules/m/index.js": "", "web/node_modules/n.js": "", "src/secret": "",
			".garudaignore": "src/secret\n!build/\n", "build/.gitignore": "skip\n", "build/skip": "", "sub/.git": "gitdir: x",
		} {
			write(t, filepath.Join(root, path), text)
		}
		symlink(t, "src", filepath.Join(root, "link"))
		w := open(root)

		got, report := walkAll(t, w, ".", WalkOptions{})
		want := []string{
			".garudaignore", ".gitignore", ".hidden", "a.go", "build/", "build/.gitignore", "build/out", "link@", "src/",
			"src/.gitignore", "src/b.go", "src/deep/", "src/deep/er/", "src/deep/er/c.go", "src/keep.o", "sub/", "web/",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if report.Ignored != 7 || report.NodeModules != 2 {
			t.Errorf("report %+v", report)
		}

		got, _ = walkAll(t, w, "src", WalkOptions{Depth: 1})
		if diff := cmp.Diff([]string{"src/.gitignore", "src/b.go", "src/deep/", "src/keep.o"}, got); diff != "" {
			t.Error(diff)
		}
		got, _ = walkAll(t, w, "web", WalkOptions{NodeModules: true})
		if diff := cmp.Diff([]string{"web/node_modules/", "web/node_modules/n.js"}, got); diff != "" {
			t.Error(diff)
		}
		got, report = walkAll(t, w, ".", WalkOptions{IncludeIgnored: true})
		if !slices.Contains(got, "node_modules/m/index.js") || !slices.Contains(got, "src/b.o") || slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, ".git/") }) || report.Ignored != 0 {
			t.Errorf("with ignored: %v, %+v", got, report)
		}
		got, _ = walkAll(t, w, "link", WalkOptions{Depth: 1})
		if !slices.Contains(got, "src/b.go") {
			t.Errorf("a walk that begins at a link: %v", got)
		}
		if _, err := w.Walk(context.Background(), mustResolve(t, w, "a.go"), WalkOptions{}, nil); err == nil {
			t.Error("a file was walked")
		}
		if _, err := w.Walk(context.Background(), mustResolve(t, w, "none"), WalkOptions{}, nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a missing folder: %v", err)
		}
	})
}

func TestWalkManyFiles(t *testing.T) {
	root := t.TempDir()
	var want []string
	for i := range 1000 {
		name := fmt.Sprintf("f%04d", i)
		write(t, filepath.Join(root, name), "")
		want = append(want, name)
	}
	deep := root
	for i := range 60 {
		deep = filepath.Join(deep, "d")
		if i == 59 {
			write(t, filepath.Join(deep, "end"), "")
		}
		want = append(want, strings.Repeat("d/", i)+"d/")
	}
	want = append(want, strings.Repeat("d/", 60)+"end")
	slices.Sort(want)
	got, _ := walkAll(t, openTest(t, root, Options{}), ".", WalkOptions{})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWalkEnds(t *testing.T) {
	root := t.TempDir()
	for i := range 300 {
		write(t, filepath.Join(root, fmt.Sprint(i%20), fmt.Sprint(i)), "")
	}
	w := openTest(t, root, Options{})
	from := mustResolve(t, w, ".")
	stop := errors.New("stop")
	if _, err := w.Walk(context.Background(), from, WalkOptions{}, func(_ int, e *Entry) error {
		if e.Kind == KindFile {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) {
		t.Errorf("a visit's error: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := w.Walk(ctx, from, WalkOptions{}, func(int, *Entry) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("the end of the context: %v", err)
	}
	defer func() {
		if v := recover(); v != "boom" {
			t.Errorf("a panic in a visit arrived as %v", v)
		}
	}()
	_, _ = w.Walk(context.Background(), from, WalkOptions{}, func(int, *Entry) error { panic("boom") })
}
