package secret

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"garuda/internal/testkit/secretservice"
)

func desktop(t *testing.T) *secretservice.Server {
	t.Helper()
	s, err := secretservice.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", s.Address)
	t.Cleanup(func() {
		s.Close()
		goleak.VerifyNone(t)
	})
	return s
}

func TestSecretService(t *testing.T) {
	s := desktop(t)
	k := SystemKeychain("/home/me/.garuda")
	ctx := t.Context()
	if err := k.Probe(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Get(ctx, "A"); !errors.Is(err, ErrNotInKeychain) {
		t.Errorf("a key that is not there: %v", err)
	}
	for _, key := range []string{"first key", "second \x00 key ü"} {
		if err := k.Set(ctx, "A", key); err != nil {
			t.Fatal(err)
		}
		if got, err := k.Get(ctx, "A"); got != key || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	for range 2 { // what is not there is deleted
		if err := k.Delete(ctx, "A"); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(map[string]string{}, s.Keys()); d != "" {
		t.Error(d)
	}
}

func TestSecretServiceFails(t *testing.T) {
	tests := []struct {
		mode       secretservice.Mode
		probe, get string
	}{
		{secretservice.Locked, "locked", "locked"},
		{secretservice.Absent, "no Secret Service runs", "no Secret Service runs"},
		{secretservice.Mute, "did not answer within 2s", "did not answer within 2s"},
		{secretservice.Prompting, "", ""},
	}
	for _, tt := range tests {
		t.Run(string(tt.mode), func(t *testing.T) {
			s := desktop(t)
			s.Put("A", "key")
			s.SetMode(tt.mode)
			k := SystemKeychain("/home/me/.garuda")
			begun := time.Now()
			same(t, "Probe", k.Probe(t.Context()), tt.probe)
			_, err := k.Get(t.Context(), "A")
			same(t, "Get", err, tt.get)
			for what, err := range map[string]error{"Set": k.Set(t.Context(), "A", "new-key"), "Delete": k.Delete(t.Context(), "A")} {
				if err == nil || strings.Contains(err.Error(), "new-key") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if took := time.Since(begun); took > 10*busLimit {
				t.Errorf("it took %s", took)
			}
			if d := cmp.Diff(map[string]string{"A": "key"}, s.Keys()); d != "" {
				t.Error(d)
			}
		})
	}
}

func same(t *testing.T, what string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

// Only a socket of this machine is spoken to, and nothing is started to get one:
// PATH names no program, and the address that the library would start a bus for
// gives an error.
func TestNoBus(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for address, want := range map[string]string{
		"": "no session bus", "autolaunch:": "no session bus", "tcp:host=127.0.0.1,port=9": "no session bus", "unixexec:path=/bin/sh": "no session bus",
		"unix:path=/nowhere/bus": "connect to the session bus", "unix:": "connect to the session bus", "unix:abstract=": "connect to the session bus",
	} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
		same(t, address, SystemKeychain("/h").Probe(t.Context()), want)
	}
}
