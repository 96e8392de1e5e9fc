package seatbelt_test

import (
	"errors"
	"flag"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/seatbelt"
)

var update = flag.Bool("update", false, "write the golden profiles anew")

// project is a view like those of a day's work.
func project() *sandbox.View {
	return &sandbox.View{
		Root: "/Users/kim/src/app", Home: "/Users/kim",
		Entries: []sandbox.Entry{
			{Path: "/Users/kim", Source: "/private/var/garuda/s1/home", Access: sandbox.Writable, Why: "a home of its own"},
			{Path: "/Users/kim/.gitconfig", Access: sandbox.ReadOnly, Why: "settings of git"},
			{Path: "/Users/kim/go/pkg/mod", Access: sandbox.Writable, Why: "Go's module cache"},
			{Path: "/Users/kim/src/app", Access: sandbox.Writable, Why: "the project"},
			{Path: "/Users/kim/src/app/.env", Access: sandbox.Masked, Why: "denied by a rule"},
			{Path: "/Users/kim/src/app/.garuda/settings.json", Access: sandbox.Locked, Missing: true, Why: "settings of Garuda"},
			{Path: "/Users/kim/src/app/.git/config", Access: sandbox.Locked, Why: "settings of git"},
			{Path: "/Users/kim/src/app/.git/hooks", Access: sandbox.Locked, Folder: true, Why: "programs that git runs"},
			{Path: "/opt/homebrew", Access: sandbox.ReadOnly, Why: "programs"},
			{Path: "/private/etc", Access: sandbox.ReadOnly, Why: "the system's settings"},
			{Path: "/private/etc/sudoers", Access: sandbox.Masked, Why: "a secret"},
			{Path: "/tmp", Source: "/private/var/garuda/s1/tmp", Access: sandbox.Writable, Why: "temporary files"},
		},
		LocalhostPorts: []int{52011},
	}
}

func TestGoldenProfiles(t *testing.T) {
	plan := project()
	for i := range plan.Entries {
		if e := &plan.Entries[i]; e.Path == plan.Root {
			e.Access = sandbox.ReadOnly
		}
	}
	plan.LocalhostPorts = nil
	open := project()
	open.FullNetwork, open.UnixSockets = true, []string{"/Users/kim/.colima/docker.sock"}
	hostile := project()
	hostile.Entries = append(hostile.Entries, sandbox.Entry{
		Path: "/tmp/\")\n(allow default) ; \\ \xff 'ü", Access: sandbox.Locked, Missing: true,
	})
	for name, v := range map[string]*sandbox.View{
		"project": project(), "plan": plan, "network": open, "empty": {}, "hostile": hostile,
	} {
		t.Run(name, func(t *testing.T) {
			text, params, err := seatbelt.Profile(v)
			if err != nil {
				t.Fatal(err)
			}
			got := text + "; parameters\n"
			for _, p := range params {
				got += "; " + strings.ReplaceAll(p, "\n", "\n; ") + "\n"
			}
			file := filepath.Join("testdata", name+".sb")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func judged(t rapid.TB, v *sandbox.View) *judge {
	text, params, err := seatbelt.Profile(v)
	if err != nil {
		t.Fatal(err)
	}
	j, err := newJudge(text, params)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return j
}

func may(t rapid.TB, j *judge, operation, path string) bool {
	ok, err := j.allows(operation, path)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestWhatAProjectMayDo(t *testing.T) {
	j := judged(t, project())
	for _, c := range []struct {
		operation, path string
		want            bool
	}{
		{"file-read-data", "/Users/kim/src/app/main.go", true},
		{"file-write-data", "/Users/kim/src/app/main.go", true},
		{"file-write-create", "/Users/kim/src/app/new/dir", true},
		{"file-write-unlink", "/Users/kim/src/app/main.go", true},
		{"file-write-create", "/Users/kim/src/app/.git/index.lock", true},
		{"file-write-unlink", "/Users/kim/src/app", false},
		{"file-write-unlink", "/Users/kim/src/app/.git", false},
		{"file-write-create", "/Users/kim/src/app/.git", false},
		{"file-write-data", "/Users/kim/src/app/.git/config", false},
		{"file-write-create", "/Users/kim/src/app/.git/hooks/pre-commit", false},
		{"file-write-unlink", "/Users/kim/src/app/.git/hooks", false},
		{"file-read-data", "/Users/kim/src/app/.git/config", true},
		{"file-write-create", "/Users/kim/src/app/.garuda", false},
		{"file-write-create", "/Users/kim/src/app/.Garuda", false},
		{"file-write-create", "/Users/kim/src/app/.garuda/settings.json", false},
		{"file-write-create", "/Users/kim/src/app/.GARUDA/Settings.JSON", false},
		{"file-write-create", "/Users/kim/src/app/.garuda/\u017fettings.json", false},
		{"file-write-create", "/Users/kim/src/app/.g\u200caruda", false},
		{"file-write-create", "/Users/kim/src/app/.garuda2", true},
		{"file-link", "/Users/kim/src/app/.git/config", false},
		{"file-link", "/Users/kim/src/app/main.go", false},
		{"file-clone", "/Users/kim/src/app/.env", false},
		{"file-read-data", "/Users/kim/src/app/.env", false},
		{"file-write-data", "/Users/kim/src/app/.env", false},
		{"file-read-data", "/Users/kim/.ssh/id_ed25519", false},
		{"file-read-metadata", "/Users/kim/.ssh/id_ed25519", false},
		{"file-read-metadata", "/Users/kim", true},
		{"file-read-data", "/Users/kim", false},
		{"file-write-create", "/Users/kim/.zshrc", false},
		{"file-write-create", "/Users/kim/go/pkg/mod/x", true},
		{"file-read-data", "/Users/kim/.gitconfig", true},
		{"file-write-data", "/Users/kim/.gitconfig", false},
		{"file-write-create", "/private/var/garuda/s1/tmp/x", true},
		{"file-write-create", "/private/var/garuda/s1/home/x", true},
		{"file-write-create", "/private/var/garuda/s2/tmp/x", false},
		{"file-write-create", "/tmp/x", false},
		{"file-read-data", "/private/etc/hosts", true},
		{"file-read-data", "/private/etc/sudoers", false},
		{"file-write-data", "/private/etc/hosts", false},
		{"file-map-executable", "/usr/lib/libSystem.B.dylib", true},
		{"file-write-data", "/dev/null", true},
		{"file-read-data", "/dev/tty", false},
		{"lsopen", "", false},
		{"appleevent-send", "", false},
		{"network-outbound", "/private/var/run/mDNSResponder", false},
	} {
		if got := may(t, j, c.operation, c.path); got != c.want {
			t.Errorf("%s %s: %v", c.operation, c.path, got)
		}
	}
}

// component is a name that tries to be more than a name.
func component() *rapid.Generator[string] {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		`"`, `)`, `(`, "\n", `\`, ";", "#", " ", "=", "\xff", "\x80", "\x01", "ü", "k", "S", ".git", "-D", "a", "[", "]", "^", "$", "*", "|",
		`")) (allow default) ("`, `#"`, "(param \"P0\")",
	}), 1, 5)
	return rapid.Map(pieces, func(p []string) string {
		if name := strings.Join(p, ""); name != "." && name != ".." {
			return name
		}
		return "dots"
	})
}

func paths() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"p", "q", "r"}), component()), 1, 4),
		func(parts []string) string { return "/w/" + strings.Join(parts, "/") })
}

func views() *rapid.Generator[*sandbox.View] {
	return rapid.Custom(func(t *rapid.T) *sandbox.View {
		v := &sandbox.View{Root: "/w"}
		for p := range rapid.MapOfN(paths(), rapid.Just(true), 0, 12).Draw(t, "paths") {
			access := rapid.SampledFrom([]sandbox.Access{sandbox.ReadOnly, sandbox.Writable, sandbox.Locked, sandbox.Masked}).Draw(t, "access")
			v.Entries = append(v.Entries, sandbox.Entry{
				Path: p, Access: access, Missing: access == sandbox.Locked && rapid.Bool().Draw(t, "missing"),
			})
		}
		return v
	})
}

// deepest is the entry that counts for a path.
func deepest(v *sandbox.View, p string) *sandbox.Entry {
	for ; p != "/"; p = path.Dir(p) {
		for i := range v.Entries {
			if v.Entries[i].Path == p {
				return &v.Entries[i]
			}
		}
	}
	return nil
}

// pinned reports whether a locked path lies below p.
func pinned(v *sandbox.View, p string) bool {
	for i := range v.Entries {
		if v.Entries[i].Access == sandbox.Locked && strings.HasPrefix(v.Entries[i].Path, strings.TrimSuffix(p, "/")+"/") {
			return true
		}
	}
	return false
}

// No name, however hostile, changes what a profile says: it says of every path
// what the view says of it.
func TestAProfileSaysWhatTheViewSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := views().Draw(t, "view")
		j := judged(t, v)
		asked := []string{"/w", "/other", paths().Draw(t, "path")}
		missing := false
		for i := range v.Entries {
			p := v.Entries[i].Path
			missing = missing || v.Entries[i].Missing
			asked = append(asked, p, path.Dir(p), p+"/x", path.Dir(p)+"/x")
		}
		for _, p := range asked {
			e := deepest(v, p)
			reads := e != nil && e.Access != sandbox.Masked
			writes := e != nil && e.Access == sandbox.Writable && !pinned(v, p)
			if got := may(t, j, "file-read-data", p); got != reads {
				t.Fatalf("reading %q: %v, and the view says %v", p, got, reads)
			}
			for _, op := range []string{"file-write-data", "file-write-create", "file-write-unlink", "file-write-mode"} {
				got := may(t, j, op, p)
				if got && !writes || writes && !got && !missing { // what is missing also denies its look-alikes
					t.Fatalf("%s %q: %v, and the view says %v", op, p, got, writes)
				}
			}
			if may(t, j, "file-link", p) || may(t, j, "file-clone", p) {
				t.Fatalf("a second name for %q", p)
			}
		}
	})
}

// Rules hold nothing of a path: those of two views differ in nothing but their
// parameters, when their paths differ in nothing but their names.
func TestPathsStayInParameters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := component().Draw(t, "name")
		view := func(name string) *sandbox.View {
			return &sandbox.View{
				Entries: []sandbox.Entry{
					{Path: "/w/" + name, Access: sandbox.Writable}, {Path: "/w/" + name + "/locked", Access: sandbox.Locked},
				},
				UnixSockets: []string{"/w/" + name + "/socket"},
			}
		}
		plain, _, err := seatbelt.Profile(view("name"))
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := seatbelt.Profile(view(name))
		if err != nil {
			t.Fatal(err)
		}
		if got != plain {
			t.Fatal(cmp.Diff(plain, got))
		}
	})
}

func TestPathsThatNoProfileHolds(t *testing.T) {
	for _, p := range []string{"", "relative", "/a/../b", "/a/", "/a//b", "/a\x00b"} {
		for _, v := range []*sandbox.View{
			{Entries: []sandbox.Entry{{Path: p}}},
			{Entries: []sandbox.Entry{{Path: "/ok", Source: p, Access: sandbox.Writable}}},
			{UnixSockets: []string{p}},
		} {
			if p == "" && len(v.Entries) == 1 && v.Entries[0].Path == "/ok" {
				continue // no source means the path itself
			}
			if text, _, err := seatbelt.Profile(v); !errors.Is(err, seatbelt.ErrUnsafePath) || text != "" {
				t.Errorf("%q: %v", p, err)
			}
		}
	}
	if _, _, err := seatbelt.Profile(&sandbox.View{Entries: []sandbox.Entry{{Path: "/a", Access: 99}}}); err == nil {
		t.Error("an access that nobody knows was taken")
	}
}
