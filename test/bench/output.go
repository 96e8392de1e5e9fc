package main

import (
	"context"
	"encoding/json"
	"fmt"
)

// output measures a command that prints 100 MB, against the same into a file.
func (b *bench) output(ctx context.Context) ([]row, error) {
	const prints = "yes 0123456789012345678901234567890123456789012345678901234567890 | head -c 104857600"
	call := func(command string) []string {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			return nil
		}
		return []string{b.garuda, "tools", "call", "bash", string(input), "--yolo"}
	}
	n := max(3, b.runs/4)
	quiet, err := b.repeat(ctx, n, "empty", call("true")...)
	if err != nil {
		return nil, err
	}
	loud, err := b.repeat(ctx, n, "empty", call(prints)...)
	if err != nil {
		return nil, err
	}
	toFile, err := b.repeat(ctx, n, "empty", "bash", "-c", prints+" > out")
	if err != nil {
		return nil, err
	}
	grown := peaks(loud) - peaks(quiet)
	factor := float64(walls(loud)) / float64(walls(toFile))
	return []row{
		{"100 MB of output, memory", "+" + mb(grown), "+10 MB", mb(peaks(quiet)) + " without output", grown <= 10e6},
		{"  time", ms(walls(loud)), "1.5 × the reference", ms(walls(toFile)) + fmt.Sprintf(" into a file (%.2f ×)", factor), walls(loud) <= walls(toFile)*3/2},
	}, nil
}
