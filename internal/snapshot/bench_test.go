package snapshot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"garuda/internal/snapshot"
)

// benchFiles is how many files the trees of the benchmarks have: the size that the
// bars of docs/performance.md speak of, or what GARUDA_SNAPSHOT_FILES says.
func benchFiles(b *testing.B) int {
	const usual = 50_000
	text := os.Getenv("GARUDA_SNAPSHOT_FILES")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	must(b, err)
	return n
}

// tree makes files of 200 bytes to 8 KB in folders of 25.
func tree(b *testing.B, p *project, files int) {
	b.Helper()
	for i := range files {
		folder := filepath.Join(p.root, fmt.Sprintf("part%03d", i/500), fmt.Sprintf("unit%02d", i/25%20))
		if i%25 == 0 {
			must(b, os.MkdirAll(folder, 0o755))
		}
		var text []byte
		for line := range 4 + i*7%160 {
			text = fmt.Appendf(text, "func f%d_%d() error { return nil } // %d\n", i, line, i*line)
		}
		must(b, os.WriteFile(filepath.Join(folder, fmt.Sprintf("file%02d.go", i%25)), text, 0o644))
	}
}

func BenchmarkFirst(b *testing.B) {
	p := newProject(b)
	tree(b, p, benchFiles(b))
	for b.Loop() {
		b.StopTimer()
		must(b, os.RemoveAll(p.home))
		p.reopen()
		b.StartTimer()
		p.keep("point")
	}
}

func BenchmarkUnchanged(b *testing.B) {
	p := newProject(b)
	tree(b, p, benchFiles(b))
	turns := snapshot.NewTurns(p.store)
	defer turns.Close()
	for first := true; first || b.Loop(); first = false {
		turns.Begin("point", func(text string) { b.Error(text) })
		must(b, turns.Wait(b.Context()))
	}
}

// BenchmarkReopened is the first snapshot of a session in a project that has some.
func BenchmarkReopened(b *testing.B) {
	p := newProject(b)
	tree(b, p, benchFiles(b))
	p.keep("point")
	for b.Loop() {
		b.StopTimer()
		p.reopen()
		b.StartTimer()
		p.keep("next")
	}
}

func BenchmarkOneChange(b *testing.B) {
	p := newProject(b)
	tree(b, p, benchFiles(b))
	p.keep("point")
	n := 0
	for b.Loop() {
		n++
		p.write("part001/unit01/file01.go", fmt.Sprint(n))
		p.keep("next")
	}
}

// BenchmarkUndo takes 500 changed files back and again.
func BenchmarkUndo(b *testing.B) {
	const files = 500
	p := newProject(b)
	tree(b, p, max(files, benchFiles(b)/10))
	p.keep("point")
	for i := range files {
		p.write(fmt.Sprintf("part%03d/unit%02d/file%02d.go", i/500, i/25%20, i%25), "changed")
	}
	names := []string{"point", "after0"}
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		after := fmt.Sprint("after", n)
		plan := p.plan(names[(n-1)%2], after)
		if len(plan.Changes) != files {
			b.Fatal(len(plan.Changes), "changes")
		}
		names[n%2] = after
		b.StartTimer()
		result, err := p.store.Restore(b.Context(), plan)
		must(b, err)
		if len(result.Failed) > 0 {
			b.Fatal(result.Failed)
		}
	}
}
