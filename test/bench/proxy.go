package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// What the proxy may add to a request on loopback, and what it must carry a second.
const (
	proxyAdds    = time.Millisecond
	proxyCarries = 300.0 // MB
)

// proxy reads the benchmarks of the package, which alone can lead it to servers of its
// own: a request with a new connection, straight and through the proxy, and 256 MB.
func (b *bench) proxy(ctx context.Context) ([]row, error) {
	times, speeds := map[string][]time.Duration{}, map[string][]float64{}
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^Benchmark(Request|Throughput)$", "-count", strconv.Itoa(max(1, b.runs/4)), "-benchtime", "200ms", "./internal/sandbox/netproxy")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("measure the proxy: %w\n%s", err, out)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		name, nanos, speed := benchmarkLine(lines.Text())
		if name != "" {
			times[name], speeds[name] = append(times[name], nanos), append(speeds[name], speed)
		}
	}
	var rows []row
	for _, kind := range []string{"https", "http"} {
		straight, through := times["Request/"+kind+"/straight"], times["Request/"+kind+"/proxy"]
		if len(straight) == 0 || len(through) == 0 {
			return nil, fmt.Errorf("measure the proxy: no times of %s in\n%s", kind, out)
		}
		added := median(through) - median(straight)
		rows = append(rows, row{kind + " by proxy", ms(median(through)), "straight + " + ms(proxyAdds), ms(median(straight)) + " straight", added <= proxyAdds})
	}
	for _, kind := range []string{"tunnel", "http"} {
		got := speeds["Throughput/"+kind]
		if len(got) == 0 {
			return nil, fmt.Errorf("measure the proxy: no speed of %s in\n%s", kind, out)
		}
		rows = append(rows, row{"proxy, " + kind, mbs(median(got)), mbs(proxyCarries), mbs(median(speeds["Throughput/straight"])) + " straight", median(got) >= proxyCarries})
	}
	return rows, nil
}

func mbs(n float64) string { return fmt.Sprintf("%.0f MB/s", n) }

// benchmarkLine reads a line such as BenchmarkX/y-2  100  12345 ns/op  900.1 MB/s.
func benchmarkLine(line string) (name string, took time.Duration, speed float64) {
	fields := strings.Fields(line)
	name, ok := strings.CutPrefix(line, "Benchmark")
	if !ok || len(fields) < 4 {
		return "", 0, 0
	}
	name, _, _ = strings.Cut(name, " ")
	name, _, _ = strings.Cut(name, "\t")
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		name = name[:i]
	}
	for i := 2; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return "", 0, 0
		}
		switch fields[i+1] {
		case "ns/op":
			took = time.Duration(value)
		case "MB/s":
			speed = value
		}
	}
	return name, took, speed
}
