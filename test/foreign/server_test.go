//go:build foreign

package foreign

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "garuda/internal/cli" // a change of the program makes the go command run these tests again
)

var (
	// aimock is the address of the server; empty where missing says what is not there.
	aimock, missing string
	// binary is the path of the built garuda.
	binary string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "garuda-foreign-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "garuda")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "garuda/cmd/garuda")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build garuda: %v\n%s", err, out)
		return 1
	}
	stop, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	return m.Run()
}

// start starts aimock on a free port of this machine.
func start() (stop func(), err error) {
	stop = func() {}
	tools := filepath.Join("..", "..", ".tools")
	script := filepath.Join(tools, "foreign", "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(script); err != nil {
		missing = "aimock is not installed: " + err.Error()
		return stop, nil
	}
	// A node that scripts/install-packages had to fetch, or the system's.
	node := filepath.Join(tools, "node", "node_modules", "node", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		if node, err = exec.LookPath("node"); err != nil {
			missing = err.Error()
			return stop, nil
		}
	}
	cmd := exec.Command(node, script, "--port", "0", "--host", "127.0.0.1", "--fixtures", filepath.Join("testdata", "fixtures.json"), "--validate-on-load")
	r, w, err := os.Pipe()
	if err != nil {
		return stop, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return stop, fmt.Errorf("start aimock: %w", err)
	}
	_ = w.Close() // the child has its own
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	var said strings.Builder
	for lines := bufio.NewScanner(r); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			aimock = strings.TrimSpace(url)
			go func() { _, _ = io.Copy(io.Discard, r) }() // ends with the server
			return stop, nil
		}
	}
	stop()
	return func() {}, fmt.Errorf("aimock did not start: %s", said.String())
}

// need skips where the server is not there.
func need(t *testing.T) {
	t.Helper()
	if aimock == "" {
		t.Skip(missing)
	}
}
