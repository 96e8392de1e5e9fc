package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// start measures how quickly the program is there, and how large it is.
func (b *bench) start(ctx context.Context) ([]row, error) {
	version, err := b.repeat(ctx, b.runs, "empty", b.garuda, "version")
	if err != nil {
		return nil, err
	}
	least, err := b.repeat(ctx, b.runs, "empty", b.floor)
	if err != nil {
		return nil, err
	}
	inits, err := b.inits(ctx, b.garuda, "version")
	if err != nil {
		return nil, err
	}
	leastInits, err := b.inits(ctx, b.floor)
	if err != nil {
		return nil, err
	}
	size, err := os.Stat(b.garuda)
	if err != nil {
		return nil, err
	}
	leastSize, err := os.Stat(b.floor)
	if err != nil {
		return nil, err
	}
	return []row{
		{"garuda version", ms(walls(version)), "15 ms", ms(walls(least)), walls(version) <= 15*time.Millisecond},
		{"  in package init", fmt.Sprintf("%.2f ms", inits), "3 ms", fmt.Sprintf("%.2f ms", leastInits), inits <= 3},
		{"binary, stripped", mb(size.Size()), "25 MB", mb(leastSize.Size()), size.Size() <= 25e6},
	}, nil
}

// inits is the median of the time spent in all package inits, in milliseconds.
func (b *bench) inits(ctx context.Context, args ...string) (float64, error) {
	// "init net/http @0.9 ms, 0.05 ms clock, 2880 bytes, 20 allocs"
	clock := regexp.MustCompile(`(?m)^init .* ([0-9.]+) ms clock`)
	var sums []float64
	for range b.runs {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "GODEBUG=inittrace=1"}
		text, err := cmd.CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("trace the inits of %v: %w", args, err)
		}
		sum := 0.0
		for _, m := range clock.FindAllSubmatch(text, -1) {
			spent, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				return 0, fmt.Errorf("trace the inits of %v: %w", args, err)
			}
			sum += spent
		}
		sums = append(sums, sum)
	}
	return median(sums), nil
}
