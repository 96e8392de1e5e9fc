package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// probeVar makes the test binary play the process that takes its secrets
// ("take") or forgets to ("leave"), and report what a child of it can see.
const probeVar = "GARUDA_SECRET_TEST"

const (
	odd   = "value-of-a-variable-with-an-odd-name"
	named = "value-of-a-secret-named-variable"
	plain = "value-of-an-ordinary-variable"
	proxy = "password-of-a-proxy"
)

func TestMain(m *testing.M) {
	mode := os.Getenv(probeVar)
	if mode == "" {
		os.Exit(m.Run())
	}
	if err := probe(mode); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func probe(mode string) error {
	if mode == "bad-file" {
		return probeBadFile()
	}
	out := &bytes.Buffer{}
	if mode == "take" {
		s, err := Take(Options{Keys: []string{"ODD_NAME", "NOT_SET"}})
		if err != nil {
			return err
		}
		for _, w := range s.Warnings() {
			return fmt.Errorf("warning: %s", w)
		}
		v, source, ok := s.Key("ODD_NAME")
		w, _ := s.Variable("MY_TOKEN")
		stays := os.Getenv("HTTPS_PROXY") == "http://user:"+proxy+"@proxy.example:3128" && slices.Contains(s.Values(), proxy)
		fmt.Fprintf(out, "STORE %v %v %v %v %v\n", v == odd, source, ok, w == named, stays)
	}
	child := exec.CommandContext(context.Background(), os.Args[0])
	child.Env = append(os.Environ(), probeVar+"=child")
	if mode == "child" {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
		fmt.Printf("PARENT %v %q\nOWN %q\n", err == nil, environ, os.Environ())
		return nil
	}
	child.Stdout, child.Stderr = out, os.Stderr
	if err := child.Run(); err != nil {
		return fmt.Errorf("child: %w", err)
	}
	_, err := os.Stdout.Write(out.Bytes())
	return err
}

func probeBadFile() error {
	home, err := os.MkdirTemp("", "garuda-secret-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	if err := os.WriteFile(filepath.Join(home, "credentials"), []byte("{"), 0o600); err != nil {
		return err
	}
	s, err := Take(Options{Keys: []string{"ODD_NAME"}, Home: home})
	if !errors.Is(err, ErrCredentials) {
		return fmt.Errorf("a broken file gave %w", err)
	}
	v, source, _ := s.Key("ODD_NAME")
	_, left := os.LookupEnv("ODD_NAME")
	fmt.Printf("%v %s %v; in the environment: %v\n", v == odd, source, err != nil, left)
	return nil
}

// runProbe starts this test binary with secrets in its environment.
func runProbe(t *testing.T, mode string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), probeVar + "=" + mode,
		"ODD_NAME=" + odd, "MY_TOKEN=" + named, "PLAIN=" + plain, "EMPTY_KEY=", "HTTPS_PROXY=http://user:" + proxy + "@proxy.example:3128"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", mode, err, out)
	}
	return string(out)
}

func TestTakeHidesFromChildren(t *testing.T) {
	out := runProbe(t, "take")
	if !strings.HasPrefix(out, "STORE true ODD_NAME true true true\n") {
		t.Errorf("the store has not what was taken:\n%s", out)
	}
	for _, secret := range []string{odd, named} {
		if strings.Contains(out, secret) {
			t.Errorf("a child can read %q:\n%s", secret, out)
		}
	}
	// A password in an address stays in Garuda's own environment, and only there.
	if parent, own, _ := strings.Cut(out, "\nOWN "); strings.Contains(parent, proxy) || !strings.Contains(own, proxy) {
		t.Errorf("the password of the proxy:\n%s", out)
	}
	if !strings.Contains(out, plain) {
		t.Errorf("ordinary variables must stay:\n%s", out)
	}
	// Root may read /proc in spite of PR_SET_DUMPABLE: there the names are still
	// to be seen, which proves that the right memory was overwritten.
	if strings.Contains(out, "PARENT true") && !strings.Contains(out, `ODD_NAME=\x00`) {
		t.Errorf("the parent's environ was readable, but its values were not overwritten:\n%s", out)
	}
}

// The same without Take: proves that the test above would see a leak.
func TestWithoutTakeChildrenSee(t *testing.T) {
	out := runProbe(t, "leave")
	parent, own, ok := strings.Cut(out, "\nOWN ")
	if !ok {
		t.Fatalf("the child said nothing:\n%s", out)
	}
	for _, secret := range []string{odd, named, proxy} {
		if !strings.Contains(own, secret) {
			t.Errorf("the child's own environment lacks %q; the test proves nothing:\n%s", secret, out)
		}
	}
	if _, err := os.Stat("/proc/self/environ"); err == nil {
		if !strings.Contains(parent, odd) || !strings.Contains(parent, proxy) {
			t.Errorf("the parent's environ lacks the secret; the test proves nothing:\n%s", out)
		}
	}
}

// A bad credentials file must not keep the environment's keys from being taken.
func TestTakeWithBadCredentials(t *testing.T) {
	out := runProbe(t, "bad-file")
	if out != "true ODD_NAME true; in the environment: false\n" {
		t.Errorf("got %q", out)
	}
}
