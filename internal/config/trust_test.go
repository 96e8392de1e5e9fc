package config

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestAYesIsForOneValue: what the user said yes to counts, and nothing else, and no
// longer than the value stays as it was.
func TestAYesIsForOneValue(t *testing.T) {
	p := newPlace(t)
	home := p.options().Home
	p.project(`{"permissions": {"allow": ["bash(x)"]}, "env": {"allow": ["A"]}, "executor": "host", "undo": {"enabled": false}}`)
	s, _ := p.load(p.options())
	wants := s.Wanted()
	if len(wants) != 2 || wants[0].Key != "permissions.allow" || wants[0].Value != `["bash(x)"]` || wants[1].Key != "env.allow" {
		t.Fatalf("%+v", wants)
	}
	trust, err := ReadTrust(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := trust.Pin(p.root, wants[:1]); err != nil {
		t.Fatal(err)
	}
	load := func(root string) *Settings {
		t.Helper()
		again, err := ReadTrust(home)
		if err != nil {
			t.Fatal(err)
		}
		o := p.options()
		o.Accepted = func(w Want) bool { return again.Pinned(root, w) }
		s, _ := p.load(o)
		return s
	}
	s = load(p.root)
	if len(s.Permissions.Allow) != 1 || len(s.EnvAllow) != 0 || s.Executor == "host" || len(s.Wanted()) != 1 {
		t.Errorf("%+v %+v %s", s.Permissions, s.EnvAllow, s.Executor)
	}
	if s := load("/another/project"); len(s.Permissions.Allow) != 0 {
		t.Error("a yes for one project counts in another")
	}
	// Another layout and other spellings say the same thing.
	p.project("{// comment\n\"permissions\": {\"allow\": [\"\\u0062ash(x)\",]}}")
	if s := load(p.root); len(s.Permissions.Allow) != 1 {
		t.Error("the same value in another spelling is not known")
	}
	p.project(`{"permissions": {"allow": ["bash(x)", "bash(rm *)"]}}`)
	if s := load(p.root); len(s.Permissions.Allow) != 0 || len(s.Wanted()) != 1 {
		t.Error("a changed value counts")
	}
}

// TestNoYesLoosensWhatMayNot: keys that a project may only tighten, or not set at
// all, take nothing whatever is accepted.
func TestNoYesLoosensWhatMayNot(t *testing.T) {
	p := newPlace(t)
	p.project(`{"executor": "host", "guard": {"rm-root": "off"}, "undo": {"enabled": false}, "audit": {"enabled": false}, "limits": {"maxSteps": 1000}}`)
	o := p.options()
	asked := 0
	o.Accepted = func(Want) bool { asked++; return true }
	s, _ := p.load(o)
	if s.Executor == "host" || !s.Undo || !s.Audit.Enabled || s.Limits.MaxSteps != 50 || asked != 0 {
		t.Errorf("%+v, asked %d times", s, asked)
	}
}

func TestTrustFile(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "trust.json")
	for _, text := range []string{"{", `{"v": 2}`, `{"v": "x"}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadTrust(home); err == nil {
			t.Errorf("%s was taken", text)
		}
		if err := (&Trust{path: path}).Pin("/p", []Want{{Key: "k", Hash: "h"}}); err == nil {
			t.Errorf("%s was written over", text)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, root := range []string{"/a", "/b", "/c", "/d"} {
		wg.Go(func() {
			if err := (&Trust{path: path}).Pin(root, []Want{{Key: "k", Hash: "h" + root}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := ReadTrust(home)
	if err != nil || len(got.file.Projects) != 4 || !got.Pinned("/a", Want{Key: "k", Hash: "h/a"}) || got.Pinned("/a", Want{Key: "k", Hash: "h/b"}) {
		t.Errorf("%+v %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := (&Trust{}).Pin("/a", nil); err == nil || !strings.Contains(err.Error(), "no home folder") {
		t.Error(err)
	}
}

// TestFoldersOfOddBytes: folders whose names differ only in bytes that JSON cannot
// hold share no yes, and keep their own.
func TestFoldersOfOddBytes(t *testing.T) {
	home := t.TempDir()
	trust, err := ReadTrust(home)
	if err != nil {
		t.Fatal(err)
	}
	want := Want{Key: "env.allow", Hash: "sha256:x"}
	if err := trust.Pin("/srv/a\xff", []Want{want}); err != nil {
		t.Fatal(err)
	}
	again, err := ReadTrust(home)
	if err != nil {
		t.Fatal(err)
	}
	for root, pinned := range map[string]bool{"/srv/a\xff": true, "/srv/a\xfe": false, "/srv/a\ufffd": false} {
		if got := again.Pinned(root, want); got != pinned {
			t.Errorf("%q: %v", root, got)
		}
	}
}
