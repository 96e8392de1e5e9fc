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
		{Path: "/project", Access: sandbox.Writable},
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

func TestFlat(t *testing.T) {
	v := &sandbox.View{Entries: []sandbox.Entry{
		{Path: "/home/u", Source: "/s/home", Access: sandbox.Writable, Why: "home"},
		{Path: "/home/u/go", Access: sandbox.Writable},
		{Path: "/s/home", Access: sandbox.Locked},
		{Path: "/w", Source: "/w", Access: sandbox.Writable},
		{Path: "/w/.git", Access: sandbox.Locked, Missing: true, Folder: true},
	}}
	want := []sandbox.Entry{
		{Path: "/home/u", Access: sandbox.Masked, Why: "home"},
		{Path: "/home/u/go", Access: sandbox.Writable},
		{Path: "/s/home", Access: sandbox.Writable, Why: "home"},
		{Path: "/s/home", Access: sandbox.Locked},
		{Path: "/w", Access: sandbox.Writable},
		{Path: "/w/.git", Access: sandbox.Locked, Missing: true, Folder: true},
	}
	if diff := cmp.Diff(want, v.Flat()); diff != "" {
		t.Error(diff)
	}
	if v.Entries[0].Path != "/home/u" {
		t.Error("the view itself was changed")
	}
}
