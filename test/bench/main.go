// Command bench measures the bars that Garuda must keep, with the stripped binary
// and a scripted server on this machine, and prints one table:
//
//	go run ./test/bench            every bar, about six minutes
//	go run ./test/bench -runs 3    fewer runs of each, for a first look
//	go run ./test/bench -only search,files
//
// Beside each measurement stands a reference from the same minutes: the least that
// any Go program would need for the same work. It ends with 1 when a bar is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	runs := flag.Int("runs", 20, "how often each short measurement is made")
	launch := flag.String("launch", "", "internal: run a command and write what it cost to this `file`")
	fight := flag.String("duel", "", "internal: run a duel and write its score to this `file`")
	only := flag.String("only", "", "measure only these `parts`, with commas between them")
	format := flag.String("client", "", "internal: ask a server at an address for one answer in this `format`")
	flag.Parse()
	if err := run(*runs, *only, *launch, *format, *fight, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(runs int, only, launch, format, fight string, args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if format != "" {
		return streamOnce(ctx, format, args)
	}
	if launch != "" {
		return launchAndReport(ctx, launch, args)
	}
	if fight != "" {
		return duelAndReport(ctx, fight, args)
	}
	return measure(ctx, runs, only)
}

// row is one bar and how it was kept.
type row struct {
	name, measured, bar, reference string
	ok                             bool
}

var errMissed = errors.New("a bar was missed")

// part is a group of bars that are measured together.
type part struct {
	name    string
	measure func(*bench, context.Context) ([]row, error)
}

func parts() []part {
	return []part{
		{"start", (*bench).start}, {"answer", (*bench).answer}, {"read20", (*bench).read20}, {"read200", (*bench).read200},
		{"stream", (*bench).stream}, {"build", (*bench).build}, {"output", (*bench).output},
		{"search", (*bench).search}, {"files", (*bench).files}, {"memory", (*bench).memory}, {"sandbox", (*bench).sandbox},
		{"policy", (*bench).policy}, {"undo", (*bench).undo}, {"proxy", (*bench).proxy}, {"sessions", (*bench).sessions},
	}
}

// chosen are the parts that a list names; all for an empty one.
func chosen(list string) ([]part, error) {
	all := parts()
	if list == "" {
		return all, nil
	}
	var out []part
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no part %q", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

func measure(ctx context.Context, runs int, only string) (err error) {
	parts, err := chosen(only)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, runs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	fmt.Printf("%s/%s, %d cores, %s%s; medians\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), load())
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tmeasured\tbar\treference\t")
	missed := false
	for _, p := range parts {
		rows, err := p.measure(b, ctx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			verdict := "ok"
			if !r.ok {
				verdict, missed = "MISSED", true
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.name, r.measured, r.bar, r.reference, verdict)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if missed {
		return errMissed
	}
	return nil
}

// load is how busy the machine was in the last minute, where the system says so:
// times that were measured beside other work mean little.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	minute, _, _ := strings.Cut(string(text), " ")
	return ", load " + minute
}

// bench is where everything is built and run.
type bench struct {
	dir, garuda, floor, self string
	runs                     int
}

func newBench(ctx context.Context, runs int) (*bench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	dir, err := os.MkdirTemp("", "garuda-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	b := &bench{dir: dir, self: self, runs: runs, garuda: filepath.Join(dir, "bin", "garuda"), floor: filepath.Join(dir, "bin", "floor")}
	for out, pkg := range map[string]string{b.garuda: "./cmd/garuda", b.floor: "./test/bench/floor"} {
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", out, pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s (bench runs at the module's root): %w\n%s", pkg, err, text)
		}
	}
	if err := b.fixture(); err != nil {
		return nil, fmt.Errorf("make the files to read: %w", err)
	}
	return b, nil
}

// fixture makes 200 files of 300 lines, 11 KB each.
func (b *bench) fixture() error {
	files := filepath.Join(b.dir, "project", "files")
	if err := os.MkdirAll(files, 0o755); err != nil {
		return err
	}
	for i := range 200 {
		var text []byte
		for line := 1; line <= 300; line++ {
			text = fmt.Appendf(text, "func f%03d_%03d() int { return %d }\n", i, line, i*line)
		}
		if err := os.WriteFile(filepath.Join(files, fmt.Sprintf("f%03d.txt", i)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
