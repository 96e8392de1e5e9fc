package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"garuda/internal/testkit/modelserver"
)

const key = "BENCH_KEY=0123456789abcdef"

// answer measures one answer of a model without latency, and the first request.
func (b *bench) answer(ctx context.Context) ([]row, error) {
	var mine, least []cost
	var first int64
	for i := range b.runs + 1 {
		m, requests, err := b.play(ctx, "empty", 0, b.headless()...)
		if err != nil {
			return nil, err
		}
		l, _, err := b.play(ctx, "empty", 0, b.floor, "URL")
		if err != nil {
			return nil, err
		}
		if i > 0 {
			mine, least = append(mine, m), append(least, l)
		}
		first = int64(requests[0].Bytes)
	}
	return []row{
		{"one answer, -p", ms(walls(mine)), "60 ms", ms(walls(least)), walls(mine) <= 60*time.Millisecond},
		{"  peak memory", mb(peaks(mine)), "40 MB", mb(peaks(least)), peaks(mine) <= 40e6},
		{"first request", fmt.Sprintf("%d bytes", first), "16384 bytes", "", first <= 16384},
	}, nil
}

// read20 measures steps that read a file each.
func (b *bench) read20(ctx context.Context) ([]row, error) {
	const steps = 20
	var mine, least []time.Duration
	for i := range max(3, b.runs/4) + 1 {
		_, requests, err := b.play(ctx, "project", steps, b.headless()...)
		if err != nil {
			return nil, err
		}
		_, floor, err := b.play(ctx, "project", steps, b.floorArgs(steps)...)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			mine, least = append(mine, gaps(requests)...), append(least, gaps(floor)...)
		}
	}
	return []row{{"20 read steps, gap", ms(median(mine)), "3 ms", ms(median(least)), median(mine) <= 3*time.Millisecond}}, nil
}

// read200 measures how the gap grows with the conversation.
func (b *bench) read200(ctx context.Context) ([]row, error) {
	const steps, end = 200, 20
	var sums, leastSums []time.Duration
	var ratios, leastRatios []float64
	var mine, least []cost
	last := 0
	for range 3 {
		m, requests, err := b.play(ctx, "project", steps, b.headless()...)
		if err != nil {
			return nil, err
		}
		l, floor, err := b.play(ctx, "project", steps, b.floorArgs(steps)...)
		if err != nil {
			return nil, err
		}
		mine, least = append(mine, m), append(least, l)
		sum, ratio := growth(gaps(requests), end)
		sums, ratios = append(sums, sum), append(ratios, ratio)
		sum, ratio = growth(gaps(floor), end)
		leastSums, leastRatios = append(leastSums, sum), append(leastRatios, ratio)
		last = requests[len(requests)-1].Bytes
	}
	return []row{
		{fmt.Sprintf("200 read steps to %.1f MB, gaps", float64(last)/1e6), ms(median(sums)), "1000 ms", ms(median(leastSums)), median(sums) <= time.Second},
		{"  last 20 to first 20", fmt.Sprintf("%.1f", median(ratios)), "3", fmt.Sprintf("%.1f", median(leastRatios)), median(ratios) <= 3},
		{"  peak memory", mb(peaks(mine)), "80 MB", mb(peaks(least)), peaks(mine) <= 80e6},
	}, nil
}

// gaps are the times from the end of each answer until the next request's
// arrival. How long its body then takes is the network's and the server's time.
func gaps(requests []*modelserver.Request) []time.Duration {
	var out []time.Duration
	for i := 1; i < len(requests); i++ {
		out = append(out, requests[i].Arrived.Sub(requests[i-1].Responded))
	}
	return out
}

// growth is the sum of the gaps, and how many times larger the last n are than the first n.
func growth(all []time.Duration, n int) (time.Duration, float64) {
	var sum time.Duration
	for _, g := range all {
		sum += g
	}
	return sum, float64(median(all[len(all)-n:])) / float64(max(1, median(all[:n])))
}

func (b *bench) headless() []string {
	return []string{b.garuda, "-p", "Do the task and then stop.", "--yolo", "--max-turns", "300"}
}

// floorArgs make the floor read the same files.
func (b *bench) floorArgs(steps int) []string {
	args := []string{b.floor, "URL"}
	for i := range steps {
		args = append(args, file(i))
	}
	return args
}

func file(i int) string { return fmt.Sprintf("files/f%03d.txt", i) }

// play runs a command against a server that asks for steps reads and then answers.
// The argument "URL" becomes the server's address.
func (b *bench) play(ctx context.Context, folder string, steps int, args ...string) (cost, []*modelserver.Request, error) {
	scenario := &modelserver.Scenario{Version: modelserver.Version}
	for i := range steps {
		scenario.Steps = append(scenario.Steps, modelserver.Step{Calls: []modelserver.Call{{
			ID: "call_" + strconv.Itoa(i), Name: "read_file", Input: json.RawMessage(`{"path":"` + file(i) + `"}`),
		}}})
	}
	scenario.Steps = append(scenario.Steps, modelserver.Step{Text: "Done."})

	var mu sync.Mutex
	var requests []*modelserver.Request
	server, err := modelserver.New(scenario, modelserver.Options{ForgetBodies: true, Recorded: func(r *modelserver.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, r)
	}})
	if err != nil {
		return cost{}, nil, err
	}
	if err := server.Listen(ctx, "127.0.0.1:0"); err != nil {
		return cost{}, nil, err
	}
	if err := b.configure(server.URL()); err != nil {
		server.Close()
		return cost{}, nil, err
	}
	args = slices.Clone(args)
	if i := slices.Index(args, "URL"); i >= 0 {
		args[i] = server.URL()
	}
	c, err := b.run(ctx, folder, []string{key}, args...)
	server.Close()
	if err != nil {
		return cost{}, nil, err
	}
	if len(requests) != steps+1 {
		return cost{}, nil, fmt.Errorf("%v made %d requests, not %d", args[0], len(requests), steps+1)
	}
	return c, requests, nil
}

// configure writes the user's files: one model at the server's address, with a
// window that holds the longest conversation.
func (b *bench) configure(url string) error {
	home := filepath.Join(b.dir, "home", ".garuda")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	models := fmt.Sprintf(`{
  "default": "bench/m",
  "providers": {"bench": {"type": "openai-compatible", "baseUrl": %q, "apiKeyEnv": "BENCH_KEY"}},
  "models": {"bench/m": {"contextWindow": 4000000, "maxTokens": 8192}}
}`, url+"/v1")
	if err := os.WriteFile(filepath.Join(home, "models.json"), []byte(models), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, "settings.json"), []byte(`{"limits": {"tokenBudget": 1000000000}}`), 0o600)
}
