package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// build measures how long it takes from the call until a request's headers are at
// the server, early and late in a conversation with thinking and parallel calls.
func (b *bench) build(ctx context.Context) ([]row, error) {
	var rows []row
	for _, c := range clients() {
		var early, late []time.Duration
		var sizes [2]int
		for range 3 {
			e, l, s, err := c.conversation(ctx)
			if err != nil {
				return nil, fmt.Errorf("200 steps of %s: %w", c.format, err)
			}
			early, late, sizes = append(early, e), append(late, l), s
		}
		least, most, err := plainPosts(ctx, sizes[:]...)
		if err != nil {
			return nil, err
		}
		last := slices.Min(late)
		ratio := float64(last) / float64(max(slices.Min(early), 1))
		rows = append(rows, row{
			"step 200 to step 20, " + c.format, fmt.Sprintf("%.2f (%s)", ratio, us(last)), "2",
			fmt.Sprintf("%.2f for bytes alone (%s)", float64(most)/float64(max(least, 1)), us(most)), ratio <= 2,
		})
	}
	return rows, nil
}

// around is of how many steps the quickest counts: other work on the machine can
// only make a step slower.
const around = 20

// conversation runs 200 steps and returns the times of the quickest around step 20
// and at the end, and the sizes of requests 20 and 200. Each request must continue
// the one before it, byte for byte.
func (c client) conversation(ctx context.Context) (early, late time.Duration, sizes [2]int, err error) {
	const steps = 200
	scenario := &modelserver.Scenario{}
	for i := range steps {
		scenario.Steps = append(scenario.Steps, modelserver.Step{Thinking: "Where is it?", Text: "I look.", Calls: []modelserver.Call{
			{ID: "call_a" + strconv.Itoa(i), Name: "read_file", Input: []byte(`{"path":"a.go"}`)},
			{ID: "call_b" + strconv.Itoa(i), Name: "bash", Input: []byte(`{"command":"ls"}`)},
		}})
	}
	var mu sync.Mutex
	var arrived []time.Time
	server, err := modelserver.New(scenario, modelserver.Options{ForgetBodies: true, Recorded: func(r *modelserver.Request) {
		mu.Lock()
		defer mu.Unlock()
		arrived = append(arrived, r.Arrived)
		switch r.N + 1 {
		case 20:
			sizes[0] = r.Bytes
		case steps:
			sizes[1] = r.Bytes
		}
	}})
	if err != nil {
		return 0, 0, sizes, err
	}
	if err := server.Listen(ctx, "127.0.0.1:0"); err != nil {
		return 0, 0, sizes, err
	}
	started, err := c.talk(ctx, server.URL(), steps)
	breaks := server.Breaks()
	server.Close() // it waits until all has been recorded
	switch {
	case err != nil:
		return 0, 0, sizes, err
	case len(breaks) > 0:
		return 0, 0, sizes, fmt.Errorf("a request does not continue the one before it: %v", breaks[0])
	}
	took := make([]time.Duration, steps)
	for i := range took {
		took[i] = arrived[i].Sub(started[i])
	}
	return slices.Min(took[20-around/2 : 20+around/2]), slices.Min(took[steps-around:]), sizes, nil
}

// talk answers every call with 5 KB and returns when each request was begun.
func (c client) talk(ctx context.Context, url string, steps int) ([]time.Time, error) {
	m, err := c.model(url)
	if err != nil {
		return nil, err
	}
	req := &llm.Request{System: "You read files.", MaxTokens: 8192, Messages: []*core.Message{core.UserText("Go.")}}
	for _, name := range []string{"bash", "read_file"} {
		req.Tools = append(req.Tools, llm.ToolSpec{Name: name, Description: "A tool.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"},"command":{"type":"string"}}}`)})
	}
	var started []time.Time
	for range steps {
		started = append(started, time.Now())
		resp, err := m.Stream(ctx, req, func(llm.Event) {})
		if err != nil {
			return nil, err
		}
		results := &core.Message{Role: core.RoleUser}
		for _, call := range resp.Message.ToolUses() {
			results.Blocks = append(results.Blocks, core.ToolResult(call.ID, false, core.Text(strings.Repeat("a line of code;\n", 320))))
		}
		next := *req
		next.Messages = slices.Concat(req.Messages, []*core.Message{resp.Message, results})
		req = &next
	}
	return started, nil
}

// plainPosts is how long it takes until the headers of a request of ready bytes are
// at a server, for two sizes.
func plainPosts(ctx context.Context, sizes ...int) (first, second time.Duration, err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	arrived := make(chan time.Time, 1)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- time.Now()
		_, _ = io.Copy(io.Discard, r.Body) // a client that left is seen by its error
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // it always fails, when Close closes the listener
	}()
	defer func() {
		_ = server.Close()
		<-served
	}()
	var least []time.Duration
	for _, size := range sizes {
		body := bytes.Repeat([]byte("x"), size)
		var took []time.Duration
		for range around {
			start := time.Now()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+l.Addr().String(), bytes.NewReader(body))
			if err != nil {
				return 0, 0, err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return 0, 0, err
			}
			_ = resp.Body.Close()
			took = append(took, (<-arrived).Sub(start))
		}
		least = append(least, slices.Min(took))
	}
	return least[0], least[1], nil
}

func us(d time.Duration) string { return fmt.Sprintf("%.2f µs", float64(d.Nanoseconds())/1000) }
