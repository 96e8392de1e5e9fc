package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is one line of `go test -json` (see `go doc test2json`).
type event struct {
	Action, Package, ImportPath, Test, Output string
	FailedBuild                               string
}

// tally counts tests; its JSON form is a line of the counts file.
type tally struct {
	Passed, Failed, Skipped int
	// Skips holds "package.Test: reason", each once.
	Skips []string

	// output is what each test that has not ended yet printed.
	output map[string][]string
	// failed has the packages with a failed test; another package that fails
	// (it does not build, it panics before its tests) counts as one failure.
	failed map[string]bool
}

// read counts the events on r. It prints the runner's own lines for each package
// and, of the tests, only what failed ones printed.
func (t *tally) read(r io.Reader, w io.Writer) error {
	t.output, t.failed = map[string][]string{}, map[string]bool{}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				// go test prints some errors as they are.
				_, _ = w.Write(line)
			} else {
				t.count(e, w)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read go test's output: %w", err)
		}
	}
}

func (t *tally) count(e event, w io.Writer) {
	id := e.Package + "." + e.Test
	switch e.Action {
	case "output":
		if e.Test != "" {
			t.output[id] = append(t.output[id], e.Output)
		} else if !quiet(e.Output) {
			_, _ = io.WriteString(w, e.Output)
		}
		return
	case "build-output":
		_, _ = io.WriteString(w, e.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	if e.Test == "" {
		if e.Action == "fail" && !t.failed[e.Package] {
			t.Failed++
		}
		return
	}
	switch e.Action {
	case "pass":
		t.Passed++
	case "fail":
		t.Failed++
		t.failed[e.Package] = true
		_, _ = io.WriteString(w, strings.Join(t.output[id], ""))
	case "skip":
		t.Skipped++
		t.Skips = append(t.Skips, id+": "+skipReason(t.output[id]))
	}
	delete(t.output, id)
}

// quiet leaves out the lines that say nothing: the bare verdict before a
// package's own line, packages without tests, and a fuzz target's progress.
func quiet(line string) bool {
	return line == "PASS\n" || line == "FAIL\n" || strings.Contains(line, "[no test files]") ||
		strings.HasPrefix(line, "fuzz: elapsed:")
}

// skipReason is the message of t.Skip: the last line that is not the runner's.
func skipReason(output []string) string {
	for i := len(output) - 1; i >= 0; i-- {
		line := strings.TrimSpace(output[i])
		if line == "" || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "===") {
			continue
		}
		// "file_test.go:12: reason"
		if at, reason, ok := strings.Cut(line, ": "); ok && strings.Contains(at, ".go:") {
			return reason
		}
		return line
	}
	return "no reason given"
}

func (t *tally) printSkips(w io.Writer) {
	for _, s := range t.Skips {
		_, _ = fmt.Fprintln(w, "skipped", s)
	}
}

func (t *tally) line() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.Passed, t.Failed, t.Skipped)
}

func (t *tally) appendTo(file string) error {
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode the counts: %w", err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("write the counts: %w", err)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		_ = f.Close()
		return fmt.Errorf("write the counts to %s: %w", file, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write the counts to %s: %w", file, err)
	}
	return nil
}
