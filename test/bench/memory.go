package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// memory measures what a search of a file of holes and of an endless line costs,
// against a search of a small file.
func (b *bench) memory(ctx context.Context) ([]row, error) {
	kinds := []struct {
		name, folder string
		make         func(path string) error
	}{
		{"a small file", "little", func(p string) error { return os.WriteFile(p, []byte("x\n"), 0o644) }},
		{"search of a 2 GB file of holes", "sparse", sparse},
		{"search of a line of 200 MB", "long", endless},
	}
	var rows []row
	var small int64
	for _, k := range kinds {
		dir := filepath.Join(b.dir, k.folder)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		if err := k.make(filepath.Join(dir, "file")); err != nil {
			return nil, fmt.Errorf("make %s: %w", k.name, err)
		}
		var most int64
		for _, input := range []map[string]any{{"pattern": "needle", "mode": "content"}, {"pattern": `n\w+dle$`, "mode": "count", "context": 5}, {"pattern": "(?i)need[l-z]e", "mode": "content", "context": 5}} {
			text, err := json.Marshal(input)
			if err != nil {
				return nil, err
			}
			costs, err := b.repeat(ctx, 3, k.folder, b.garuda, "tools", "call", "grep", string(text))
			if err != nil {
				return nil, err
			}
			most = max(most, peaks(costs))
		}
		if small == 0 {
			small = most
			continue
		}
		rows = append(rows, row{k.name, "+" + mb(most-small), "+20 MB", mb(small) + " with a small file", most-small <= 20e6})
	}
	return rows, nil
}

// sparse makes a file of 2 GB that begins as text, so that it is not passed over
// as binary, and takes no place on the disk.
func sparse(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(bytes.Repeat([]byte("text\n"), 4096)); err != nil {
		return err
	}
	return f.Truncate(2 << 30)
}

// endless makes a file of one line of 200 MB that ends in a match.
func endless(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	part := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for range 190 {
		if _, err := f.Write(part); err != nil {
			return err
		}
	}
	_, err = io.WriteString(f, " needle\n")
	return err
}
