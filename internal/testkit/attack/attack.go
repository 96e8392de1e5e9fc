//go:build unix

// Package attack is what hostile commands try, and the decoy host on which they try
// it: a project, a home folder full of secrets, a process, sockets, a port. A test
// runs each Case through an executor and asks the Host whether it held.
package attack

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

//go:embed attacks.tsv
var table string

// Case is one command, and how to see on the host that it did no harm, or that it
// worked where it is honest.
type Case struct{ Name, Command, Holds string }

// Cases are those of attacks.tsv: name, command and check with tabs between them.
func Cases() ([]Case, error) {
	var out []Case
	for i, line := range strings.Split(table, "\n") {
		fields := strings.Split(line, "\t")
		switch {
		case strings.HasPrefix(line, "#") || line == "" || fields[0] == "name":
		case len(fields) != 3:
			return nil, fmt.Errorf("attacks.tsv, line %d: %d columns, want 3", i+1, len(fields))
		default:
			out = append(out, Case{fields[0], fields[1], fields[2]})
		}
	}
	return out, nil
}

// Key is in the environment of the process whose commands are tested. Its value,
// and every decoy secret, is "SECRET".
const Key = "GARUDA_TEST_KEY"

// Host is a decoy host.
type Host struct {
	// Root is a git repository in which commands run, Home a home folder with keys,
	// Outside a folder beside the project.
	Root, Home, Outside string
	// Socket is a unix socket that listens, Port a TCP port of the loopback, Pid a
	// process of the host. An abstract socket @garuda-decoy listens too.
	Socket    string
	Port, Pid int

	dir string
}

// NewHost makes a host that ends with the test.
func NewHost(t testing.TB) *Host {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{
		Root: filepath.Join(base, "project"), Home: filepath.Join(base, "home"), Outside: filepath.Join(base, "outside"),
		Socket: filepath.Join(base, "outside", "s"), dir: base,
	}
	for path, text := range map[string]string{
		"project/main.go": "package main\n", "home/.ssh/id_ed25519": "SECRET\n", "home/.netrc": "password SECRET\n",
		"home/.aws/credentials": "SECRET\n", "outside/file": "SECRET\n",
	} {
		path = filepath.Join(base, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	git := exec.CommandContext(t.Context(), "git", "init", "-q", "--template=", h.Root)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(h.Root, ".git", "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct{ network, address string }{{"unix", h.Socket}, {"unix", "@garuda-decoy"}, {"tcp4", "127.0.0.1:0"}} {
		l, err := new(net.ListenConfig).Listen(t.Context(), at.network, at.address)
		if errors.Is(err, syscall.EADDRINUSE) && at.address == "@garuda-decoy" {
			continue // the decoy of another package's tests listens there
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			h.Port = tcp.Port
		}
	}
	decoy := exec.CommandContext(context.Background(), "sleep", "1000")
	if err := decoy.Start(); err != nil {
		t.Fatal(err)
	}
	h.Pid = decoy.Process.Pid
	t.Cleanup(func() {
		_ = decoy.Process.Kill()
		_ = decoy.Wait() // it was killed
	})
	return h
}

// Expand puts the host's places into the text of a case.
func (h *Host) Expand(text string) string {
	vars := h.variables()
	names := slices.Sorted(maps.Keys(vars))
	slices.Reverse(names) // OUTSIDE before OUT
	for _, name := range names {
		text = strings.ReplaceAll(text, "$"+name, vars[name])
	}
	return text
}

func (h *Host) variables() map[string]string {
	return map[string]string{
		"ROOT": h.Root, "HOME": h.Home, "OUTSIDE": h.Outside, "MARK": filepath.Join(h.Outside, "pwned"),
		"SOCK": h.Socket, "PORT": strconv.Itoa(h.Port), "DECOY_PID": strconv.Itoa(h.Pid),
		"OUT": filepath.Join(h.dir, "out"),
	}
}

// Held runs the check of a case on the host, after its command has printed output.
func (h *Host) Held(t testing.TB, c Case, output []byte) bool {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, "out"), output, 0o600); err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), "bash", "-c", h.Expand(c.Holds))
	check.Dir = h.Root
	err := check.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return err == nil
}
