package sandbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/sandbox"
)

func TestInPlace(t *testing.T) {
	v := &sandbox.View{Entries: []sandbox.Entry{
		{Path: "/home/u", Source: "/s/home", Access: sandbox.Writable},
		{Path: "/home/u/go", Access: sandbox.Writable},
		{Path: "/tmp", Source: "/s/tmp", Access: sandbox.Writable},
		{Path: "/work", Access: sandbox.Writable},
	}}
	env := []string{
		"HOME=/home/u", "TMPDIR=/tmp", "GOTMPDIR=/tmp/go", "GOPATH=/home/u/go", "XDG_CACHE_HOME=/home/u/.cache",
		"OTHER=/tmpfile", "PATH=/tmp:/bin", "WORD=x", "ODD", "REL=tmp", "ROOT=/",
	}
	want := []string{
		"HOME=/home/u", "TMPDIR=/s/tmp", "GOTMPDIR=/s/tmp/go", "GOPATH=/home/u/go", "XDG_CACHE_HOME=/s/home/.cache",
		"OTHER=/tmpfile", "PATH=/tmp:/bin", "WORD=x", "ODD", "REL=tmp", "ROOT=/",
	}
	given := append([]string(nil), env...)
	if diff := cmp.Diff(want, v.InPlace(env)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(given, env); diff != "" {
		t.Errorf("the caller's environment was changed: %s", diff)
	}
}
