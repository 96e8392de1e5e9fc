// Command testrun runs go test, shows what its runner prints, and counts: every
// test and subtest that passed, failed or was skipped, and why it was skipped.
//
//	testrun [-counts FILE] [go test's arguments]
//	testrun [-counts FILE] -fuzz 20000x                    each fuzz target of the module in turn
//	testrun [-counts FILE] -mentions A,B [arguments]       the packages whose tests read variable A or B
//	testrun -sum FILE                                      the sum of what -counts wrote
//
// It ends with go test's own exit code. It never runs a test again to make it pass.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

func main() {
	counts := flag.String("counts", "", "append this run's counts to `FILE`")
	fuzz := flag.String("fuzz", "", "run every fuzz target this `many` times, as in 20000x")
	mentions := flag.String("mentions", "", "only packages whose tests name one of these `words`")
	sum := flag.String("sum", "", "print the sum of the counts in `FILE`")
	// go test's own flags follow ours and are unknown here, so ours end at the
	// first argument that is none of them.
	own, rest := splitArguments(os.Args[1:])
	if err := flag.CommandLine.Parse(own); err != nil {
		os.Exit(2)
	}
	code, err := run(*counts, *fuzz, *mentions, *sum, rest)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

// splitArguments divides the command line into testrun's flags, each with its
// value, and what is meant for go test.
func splitArguments(args []string) (own, rest []string) {
	for len(args) >= 2 {
		switch strings.TrimLeft(args[0], "-") {
		case "counts", "fuzz", "mentions", "sum":
			own, args = append(own, args[0], args[1]), args[2:]
			continue
		}
		break
	}
	return own, args
}

func run(countsFile, fuzz, mentions, sumFile string, args []string) (int, error) {
	if sumFile != "" {
		return 0, printSum(sumFile)
	}
	runs, err := plan(fuzz, mentions, args)
	if err != nil {
		return 0, err
	}
	total, code := &tally{}, 0
	for _, r := range runs {
		c, err := goTest(r, total)
		if err != nil {
			return 0, err
		}
		if code == 0 {
			code = c
		}
	}
	total.printSkips(os.Stdout)
	fmt.Println(total.line())
	if countsFile != "" {
		return code, total.appendTo(countsFile)
	}
	return code, nil
}

// plan lists the go test command lines of this run.
func plan(fuzz, mentions string, args []string) ([][]string, error) {
	switch {
	case fuzz != "":
		targets, err := fuzzTargets(".")
		if err != nil {
			return nil, err
		}
		var runs [][]string
		for _, t := range targets {
			runs = append(runs, []string{"-run=^$", "-fuzz=^" + t.name + "$", "-fuzztime=" + fuzz, "-fuzzminimizetime=500x", t.dir})
		}
		return runs, nil
	case mentions != "":
		dirs, err := dirsMentioning(".", strings.Split(mentions, ","))
		if err != nil || len(dirs) == 0 {
			return nil, err
		}
		return [][]string{append(args, dirs...)}, nil
	}
	return [][]string{args}, nil
}

// goTest runs one go test and counts its events.
func goTest(args []string, t *tally) (int, error) {
	if len(args) > 1 && strings.HasPrefix(args[1], "-fuzz=") {
		fmt.Printf("fuzz %s in %s\n", strings.Trim(args[1][len("-fuzz="):], "^$"), args[len(args)-1])
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, fmt.Errorf("start go test: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start go test: %w", err)
	}
	if err := t.read(out, os.Stdout); err != nil {
		return 0, errors.Join(err, cmd.Wait())
	}
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}

func printSum(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read the counts: %w", err)
	}
	defer func() { _ = f.Close() }()
	sum := &tally{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var t tally
		if err := json.Unmarshal(sc.Bytes(), &t); err != nil {
			return fmt.Errorf("read the counts in %s: %w", file, err)
		}
		sum.Passed += t.Passed
		sum.Failed += t.Failed
		sum.Skipped += t.Skipped
		sum.Skips = append(sum.Skips, t.Skips...)
	}
	sum.printSkips(os.Stdout)
	fmt.Println(sum.line())
	return nil
}
