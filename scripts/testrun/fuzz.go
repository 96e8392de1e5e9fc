package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fuzzing is how often each target runs, and of how many packages one is taken.
type fuzzing struct {
	times string
	share int
}

// fuzzAll runs each fuzz target of the module at root so many times. A package's
// test binary is built once: go test would link it again for each of its targets.
func fuzzAll(root string, how fuzzing, t *tally) (int, error) {
	targets, err := fuzzTargets(root)
	if err != nil {
		return 0, err
	}
	tmp, err := os.MkdirTemp("", "garuda-fuzz-")
	if err != nil {
		return 0, fmt.Errorf("make a folder for test binaries: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return 0, fmt.Errorf("ask go where its cache is: %w", err)
	}
	f := fuzzer{times: how.times, binary: filepath.Join(tmp, "fuzz.test"), cache: filepath.Join(strings.TrimSpace(string(cache)), "fuzz")}
	code, packages := 0, -1
	for i, target := range targets {
		begins := i == 0 || target.dir != targets[i-1].dir
		if begins {
			packages++
		}
		if packages%max(how.share, 1) != 0 {
			continue
		}
		if begins {
			if err := f.build(target.dir); err != nil {
				fmt.Printf("FAIL %s: %v\n", target.dir, err)
				t.Failed++
				return 1, nil
			}
		}
		c, err := f.run(target, t)
		if err != nil {
			return 0, err
		}
		code = max(code, c)
	}
	return code, nil
}

// fuzzer runs the targets of one package after the other.
type fuzzer struct {
	times, binary, cache string
	pkg                  string
}

func (f *fuzzer) build(dir string) error {
	pkg, err := exec.Command("go", "list", dir).Output()
	if err != nil {
		return fmt.Errorf("ask go for the package's path: %w", err)
	}
	f.pkg = strings.TrimSpace(string(pkg))
	cmd := exec.Command("go", "test", "-c", "-fuzz=.", "-o", f.binary, dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build its tests: %w", err)
	}
	return nil
}

// run counts one target's events, which test2json makes of what the binary prints,
// as go test does. New inputs are kept where go test keeps them.
func (f *fuzzer) run(target fuzzTarget, t *tally) (int, error) {
	fmt.Printf("fuzz %s in %s\n", target.name, target.dir)
	cmd := exec.Command("go", "tool", "test2json", "-t", "-p", f.pkg, f.binary, "-test.v=test2json", "-test.paniconexit0",
		"-test.run=^$", "-test.fuzz=^"+target.name+"$", "-test.fuzztime="+f.times, "-test.fuzzminimizetime=500x",
		"-test.fuzzcachedir="+filepath.Join(f.cache, f.pkg))
	cmd.Dir = target.dir
	return count(cmd, t)
}
