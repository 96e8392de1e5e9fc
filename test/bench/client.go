package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/anthropic"
	"garuda/internal/llm/chat"
	"garuda/internal/llm/gemini"
	"garuda/internal/llm/responses"
	"garuda/internal/testkit/modelserver"
)

// client is one wire format, spoken to the scripted server.
type client struct {
	format, base string
	create       func(llm.ClientConfig) (llm.Model, error)
}

func clients() []client {
	return []client{
		{"anthropic", "", anthropic.New}, {"chat", "/v1", chat.New}, {"responses", "/v1", responses.New}, {"gemini", "", gemini.New},
	}
}

func (c client) model(url string) (llm.Model, error) {
	return c.create(llm.ClientConfig{
		Info:    &llm.Info{Spec: "bench/m", ID: "m", Format: c.format, Thinks: true, ContextWindow: 4_000_000, MaxOutput: 8192},
		BaseURL: url + c.base, Key: "0123456789abcdef",
	})
}

// streamOnce asks for one answer and drops it: what this process costs is what a
// client costs. The bench starts itself for this.
func streamOnce(ctx context.Context, format string, args []string) error {
	for _, c := range clients() {
		if c.format != format || len(args) != 1 {
			continue
		}
		m, err := c.model(args[0])
		if err != nil {
			return err
		}
		_, err = m.Stream(ctx, &llm.Request{Messages: []*core.Message{core.UserText("Go.")}, MaxTokens: 8192}, func(llm.Event) {})
		return err
	}
	return fmt.Errorf("there is no client for %q with %q", format, args)
}

// deltas is how many an answer has by which a client's cost is measured.
const deltas = 100_000

// stream measures the CPU that each client needs for a delta, in a process of its
// own, against a program that only reads the bytes.
func (b *bench) stream(ctx context.Context) ([]row, error) {
	floor, err := b.perDelta(ctx, b.floor, "URL")
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, c := range clients() {
		mine, err := b.perDelta(ctx, b.self, "-client", c.format, "URL")
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{"CPU a delta, " + c.format, us(mine), "15 µs", us(floor) + " to read chat's", mine <= 15*time.Microsecond})
	}
	return rows, nil
}

// perDelta is what a long answer costs more than a short one, by the delta.
func (b *bench) perDelta(ctx context.Context, args ...string) (time.Duration, error) {
	var long, short []time.Duration
	for range 3 {
		for _, n := range []int{1, deltas} {
			text := strings.Repeat("8 runes ", n)
			step := modelserver.Step{Text: text, Wire: &modelserver.Wire{Fragment: 8}}
			spent, err := b.answered(ctx, step, args...)
			if err != nil {
				return 0, err
			}
			if n == 1 {
				short = append(short, spent)
			} else {
				long = append(long, spent)
			}
		}
	}
	return (median(long) - median(short)) / deltas, nil
}

// answered is the CPU time of a command that is given one answer.
func (b *bench) answered(ctx context.Context, step modelserver.Step, args ...string) (time.Duration, error) {
	server, err := modelserver.New(&modelserver.Scenario{Steps: []modelserver.Step{step}}, modelserver.Options{})
	if err != nil {
		return 0, err
	}
	if err := server.Listen(ctx, "127.0.0.1:0"); err != nil {
		return 0, err
	}
	defer server.Close()
	args = append(args[:len(args)-1:len(args)-1], server.URL())
	c, err := b.run(ctx, "empty", nil, args...)
	return c.CPU, err
}

// build measures how long it takes to make the request of step 20 and that of step
// 200 of a conversation with thinking and parallel calls: BenchmarkBuild of each
// client, with as many rounds at both, and the quickest of three.
func (b *bench) build(ctx context.Context) ([]row, error) {
	var rows []row
	for _, c := range clients() {
		early, late, err := c.built(ctx)
		if err != nil {
			return nil, fmt.Errorf("build requests of %s: %w", c.format, err)
		}
		ratio := late.Seconds() / early.Seconds()
		rows = append(rows, row{"request of step 200, " + c.format, us(late), "2 × step 20", us(early) + fmt.Sprintf(" at step 20 (%.2f ×)", ratio), ratio <= 2})
	}
	return rows, nil
}

var buildLine = regexp.MustCompile(`(?m)^BenchmarkBuild/step=(\d+)\S*\s+\d+\s+([0-9.]+) ns/op`)

func (c client) built(ctx context.Context) (early, late time.Duration, err error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run=^$", "-bench=^BenchmarkBuild$", "-benchtime=200x", "-count=3", "./internal/llm/"+c.format)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("%w\n%s", err, out)
	}
	for _, m := range buildLine.FindAllSubmatch(out, -1) {
		ns, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			return 0, 0, err
		}
		at := &early
		if string(m[1]) == "200" {
			at = &late
		}
		if d := time.Duration(ns); *at == 0 || d < *at {
			*at = d
		}
	}
	if early == 0 || late == 0 {
		return 0, 0, fmt.Errorf("the benchmark printed no times:\n%s", out)
	}
	return early, late, nil
}

func us(d time.Duration) string { return fmt.Sprintf("%.2f µs", float64(d.Nanoseconds())/1000) }
