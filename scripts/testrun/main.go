// Command testrun runs go test, shows what its runner prints, and counts: every
// test and subtest that passed, failed or was skipped, and why it was skipped.
//
//	testrun [-counts FILE] [go test's arguments]
//	testrun [-counts FILE] -fuzz 20000x [-share n]         each fuzz target of the module in turn
//	testrun [-counts FILE] -sized A,B [arguments]          the tests of which variable A or B says the size
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
	share := flag.Int("share", 1, "of the packages with fuzz targets only every `n`-th")
	sized := flag.String("sized", "", "only tests that one of these `names` concerns, variables or packages")
	sum := flag.String("sum", "", "print the sum of the counts in `FILE`")
	// go test's own flags follow ours and are unknown here, so ours end at the
	// first argument that is none of them.
	own, rest := splitArguments(os.Args[1:])
	if err := flag.CommandLine.Parse(own); err != nil {
		os.Exit(2)
	}
	code, err := run(*counts, fuzzing{*fuzz, *share}, *sized, *sum, rest)
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
		case "counts", "fuzz", "share", "sized", "sum":
			own, args = append(own, args[0], args[1]), args[2:]
			continue
		}
		break
	}
	return own, args
}

func run(countsFile string, fuzz fuzzing, sized, sumFile string, args []string) (int, error) {
	if sumFile != "" {
		return 0, printSum(sumFile)
	}
	total := &tally{}
	code, err := runAll(fuzz, sized, args, total)
	if err != nil {
		return 0, err
	}
	total.printSkips(os.Stdout)
	fmt.Println(total.line())
	if countsFile != "" {
		return code, total.appendTo(countsFile)
	}
	return code, nil
}

func runAll(fuzz fuzzing, sized string, args []string, t *tally) (int, error) {
	if fuzz.times != "" {
		return fuzzAll(".", fuzz, t)
	}
	if sized != "" {
		dirs, tests, err := sizedTests(".", strings.Split(sized, ","))
		if err != nil || len(dirs) == 0 {
			return 0, err
		}
		args = append(args, "-run=^("+strings.Join(tests, "|")+")$")
		args = append(args, dirs...)
	}
	return count(exec.Command("go", append([]string{"test", "-json"}, args...)...), t)
}

// count runs a command that prints events of go test, and counts them.
func count(cmd *exec.Cmd, t *tally) (int, error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", cmd.Args[0], err)
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", cmd.Args[0], err)
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
