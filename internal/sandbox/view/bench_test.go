package view

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"garuda/internal/sandbox"
)

// largeRepository has 50,000 files, with a repository of git's.
func largeRepository(b *testing.B) Options {
	b.Helper()
	dir := b.TempDir()
	root := filepath.Join(dir, "p")
	for i := range 500 {
		folder := filepath.Join(root, fmt.Sprintf("d%d", i%20), fmt.Sprintf("e%d", i))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		for k := range 100 {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("f%d.go", k)), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, sub := range []string{"objects", "refs", "hooks", "info"} {
		if err := os.MkdirAll(filepath.Join(root, ".git", sub), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tbare = false\n", "info/exclude": "*.swp\n"} {
		if err := os.WriteFile(filepath.Join(root, ".git", name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		b.Fatal(err)
	}
	return Options{Root: root, Home: home, GarudaHome: filepath.Join(home, ".garuda"), Path: os.Getenv("PATH")}
}

func view(b *testing.B, builder *Builder) {
	b.Helper()
	if _, err := builder.View(b.Context(), &sandbox.Command{}); err != nil {
		b.Fatal(err)
	}
}

// The bar is 20 ms.
func BenchmarkFirstView(b *testing.B) {
	opt := largeRepository(b)
	for b.Loop() {
		builder, err := NewBuilder(opt)
		if err != nil {
			b.Fatal(err)
		}
		view(b, builder)
		b.StopTimer()
		if err := builder.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// The bar is 1 ms.
func BenchmarkView(b *testing.B) {
	builder, err := NewBuilder(largeRepository(b))
	if err != nil {
		b.Fatal(err)
	}
	view(b, builder)
	for b.Loop() {
		view(b, builder)
	}
	b.StopTimer()
	if err := builder.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkViewThatHides(b *testing.B) {
	opt := largeRepository(b)
	opt.Deny = []string{"*.pem", "secrets/", "~/x"}
	builder, err := NewBuilder(opt)
	if err != nil {
		b.Fatal(err)
	}
	view(b, builder)
	for b.Loop() {
		view(b, builder)
	}
	b.StopTimer()
	if err := builder.Close(); err != nil {
		b.Fatal(err)
	}
}
