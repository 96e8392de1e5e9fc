package view

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"garuda/internal/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWhatIsSeen(t *testing.T) {
	d := newDecoy(t)
	added, written := filepath.Join(d.dir, "added"), filepath.Join(d.dir, "data", "w")
	for _, dir := range []string{added, written} {
		d.folder(dir)
	}
	d.file(filepath.Join(d.home, "skills", "s", "SKILL.md"), "")
	d.opt.Added, d.opt.WritePaths = []string{added}, []string{written, "~/notes", "build"}
	d.opt.Read = []Place{{filepath.Join(d.home, "skills", "s"), "a skill"}, {filepath.Join(d.dir, "none"), "a skill"}}
	d.folder(filepath.Join(d.home, "notes"))
	d.folder(filepath.Join(d.root, "build"))
	b := d.builder()
	want := map[string]string{
		d.root:                            "write",
		filepath.Join(d.root, "a", "b"):   "write",
		filepath.Join(d.root, ".garuda"):  "placeholder",
		added:                             "read",
		written:                           "write",
		filepath.Join(d.dir, "data", "v"): "nothing",
		d.outside:                         "nothing",
		filepath.Join(d.home, "notes"):    "write",
		filepath.Join(d.home, "skills"):   "nothing",
		filepath.Join(d.home, "skills/s"): "read",
		filepath.Join(d.home, ".ssh"):     "nothing",
		filepath.Join(d.home, ".netrc"):   "nothing",
		d.garuda:                          "nothing",
		"/etc/shadow":                     "read", // of the private /etc, where there is none
		"/root/x":                         "nothing",
		"/sys":                            "nothing",
		"/usr/bin":                        "read",
	}
	v := viewOf(t, b, &sandbox.Command{Dir: d.root})
	expect(t, v, want)
	if exists(filepath.Join(at(v, "/etc/x").Source, "shadow")) {
		t.Error("the private /etc has the passwords")
	}

	plan := viewOf(t, b, &sandbox.Command{Dir: d.root, ReadOnlyRoot: true})
	want[d.root], want[filepath.Join(d.root, "a", "b")], want[filepath.Join(d.root, ".garuda")] = "read", "read", "read"
	want[filepath.Join(d.root, "build")] = "read"
	expect(t, plan, want)
	for _, v := range []*sandbox.View{v, plan} {
		if !slices.IsSortedFunc(v.Entries, func(a, b sandbox.Entry) int { return byParts(a.Path, b.Path) }) {
			t.Error("the entries are not sorted")
		}
		if e := at(v, "/tmp/x"); e == nil || e.Access != sandbox.Writable || e.Source != b.session.tmp {
			t.Errorf("/tmp is %+v", e)
		}
	}
}

// The project may lie in a folder that may be written: plan mode closes it there.
func TestPlanModeInAWritePath(t *testing.T) {
	d := newDecoy(t)
	d.opt.WritePaths = []string{"~/src"}
	d.folder(filepath.Join(d.home, "src", "other"))
	b := d.builder()
	expect(t, viewOf(t, b, &sandbox.Command{}), map[string]string{d.root: "write", filepath.Join(d.home, "src", "other"): "write"})
	expect(t, viewOf(t, b, &sandbox.Command{ReadOnlyRoot: true}), map[string]string{d.root: "read", filepath.Join(d.home, "src", "other"): "write"})
}

func TestWritePathsThatAreRefused(t *testing.T) {
	d := newDecoy(t)
	d.link(filepath.Join(d.home, ".ssh"), filepath.Join(d.outside, "keys"))
	d.link(d.home, filepath.Join(d.outside, "home"))
	d.file(filepath.Join(d.dir, "dotfiles", "aws", "credentials"), "SECRET")
	d.link(filepath.Join(d.dir, "dotfiles", "aws"), filepath.Join(d.home, ".aws"))
	for _, path := range []string{
		"/", "~", "~/", d.home, filepath.Dir(d.home), d.dir, "/tmp", "/etc", "/usr", "/proc", "/proc/self", "/dev", "/run", "/run/user", "/home", "/var",
		"~/.ssh", "~/.ssh/id_ed25519", "~/.config", "~/.config/gh", "~/.config/gh/hosts.yml", "~/.garuda", filepath.Join(d.outside, "keys"), filepath.Join(d.outside, "home"),
		filepath.Join(d.dir, "dotfiles"), filepath.Join(d.dir, "dotfiles", "aws"), "../../.ssh", filepath.Join(d.outside, "home", ".ssh"),
	} {
		d.opt.WritePaths = []string{path}
		b := d.builder()
		if v, err := b.View(t.Context(), &sandbox.Command{}); !errors.Is(err, ErrPlace) {
			t.Errorf("%s: %v, and the view is %v", path, err, v)
		}
	}
}

// A link to a good place is followed, and the place counts where it really is.
func TestLinksAreFollowed(t *testing.T) {
	d := newDecoy(t)
	d.folder(filepath.Join(d.outside, "w"))
	d.link(filepath.Join(d.outside, "w"), filepath.Join(d.home, "w"))
	d.opt.WritePaths = []string{"~/w"}
	v := d.view()
	expect(t, v, map[string]string{filepath.Join(d.outside, "w"): "write", d.outside: "nothing"})
	if e := at(v, filepath.Join(d.home, "w", "x")); e.Path != filepath.Join(d.home, "w") || e.Source != filepath.Join(d.outside, "w") {
		t.Errorf("the link's place is %+v", e)
	}
}

func TestHomeAndRoot(t *testing.T) {
	d := newDecoy(t)
	for _, root := range []string{d.home, filepath.Dir(d.home), "/"} {
		opt := d.opt
		opt.Root = root
		if b, err := NewBuilder(opt); err == nil {
			t.Errorf("the root %s was taken", root)
			_ = b.Close()
		}
	}
	for _, home := range []string{"", "/", "/usr", "/etc"} {
		opt := d.opt
		opt.Home, opt.Root = home, d.root
		b, err := NewBuilder(opt)
		if err != nil {
			t.Fatal(err)
		}
		v := viewOf(t, b, &sandbox.Command{})
		if v.Home != homelessAt || !slices.Contains(b.Env(), "HOME="+homelessAt) {
			t.Errorf("home %q: it is shown at %s", home, v.Home)
		}
		expect(t, v, map[string]string{d.root: "write", "/usr/bin": "read"})
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What lies in the project and is a secret of the home is hidden there too.
func TestSecretsInsideWhatIsShown(t *testing.T) {
	d := newDecoy(t)
	d.opt.Root = filepath.Join(d.home, ".config")
	d.opt.Added = []string{filepath.Join(d.dir, "dotfiles")}
	d.file(filepath.Join(d.dir, "dotfiles", "gnupg", "key"), "SECRET")
	d.link(filepath.Join(d.dir, "dotfiles", "gnupg"), filepath.Join(d.home, ".gnupg"))
	expect(t, d.view(), map[string]string{
		filepath.Join(d.home, ".config", "gh"):         "hidden",
		filepath.Join(d.home, ".config", "nvim"):       "write",
		filepath.Join(d.dir, "dotfiles", "gnupg"):      "hidden",
		filepath.Join(d.dir, "dotfiles", "gnupg/key"):  "hidden",
		filepath.Join(d.dir, "dotfiles", "vimrc"):      "read",
		filepath.Join(d.home, ".config", "gcloud/key"): "write", // there is none
	})
}

func TestSettle(t *testing.T) {
	r, w, l, m := sandbox.ReadOnly, sandbox.Writable, sandbox.Locked, sandbox.Masked
	e := func(path string, a sandbox.Access) sandbox.Entry { return sandbox.Entry{Path: path, Access: a} }
	own := sandbox.Entry{Path: "/h", Source: "/s/h", Access: w}
	cases := []struct {
		name     string
		in, want []sandbox.Entry
	}{
		{"a folder's entry covers", []sandbox.Entry{e("/a/b", r), e("/a", r), e("/a-b", r)}, []sandbox.Entry{e("/a", r), e("/a-b", r)}},
		{"the stricter of two", []sandbox.Entry{e("/a", r), e("/a", w), e("/b", w), e("/b", l), e("/b", m), e("/p/x", l), e("/p", w), e("/p/x", w)}, []sandbox.Entry{e("/a", w), e("/p", w), e("/p/x", l)}},
		{"nothing opens below a lock", []sandbox.Entry{e("/p", w), e("/p/.git/hooks", l), e("/p/.git/hooks/x", w)}, []sandbox.Entry{e("/p", w), e("/p/.git/hooks", l)}},
		{"a mask below a lock stays", []sandbox.Entry{e("/p", w), e("/p/l", l), e("/p/l/x", m)}, []sandbox.Entry{e("/p", w), e("/p/l", l), e("/p/l/x", m)}},
		{"nothing is below a mask", []sandbox.Entry{e("/p", w), e("/p/x", m), e("/p/x/y", w), e("/p/x/z", l)}, []sandbox.Entry{e("/p", w), e("/p/x", m)}},
		{"masks and locks of nothing", []sandbox.Entry{e("/q", m), e("/q2", l), own, e("/h/.ssh", m)}, []sandbox.Entry{own}},
		{"a read place in a private folder", []sandbox.Entry{own, e("/h/go", r)}, []sandbox.Entry{own, e("/h/go", r)}},
		{"a read place in a written one", []sandbox.Entry{e("/w", w), e("/w/bin", r)}, []sandbox.Entry{e("/w", w)}},
		{"the project below a lock", []sandbox.Entry{e("/w", w), e("/w/.vscode", l), e("/w/.vscode/p", w)}, []sandbox.Entry{e("/w", w), e("/w/.vscode", l), e("/w/.vscode/p", w)}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := "/p"
			if strings.HasPrefix(c.name, "the project") {
				root = "/w/.vscode/p"
			}
			if diff := cmp.Diff(c.want, settle(c.in, root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHostPath(t *testing.T) {
	d := newDecoy(t)
	b := d.builder()
	for path, want := range map[string]string{
		"/tmp/x":                      filepath.Join(b.session.tmp, "x"),
		"/tmp":                        b.session.tmp,
		"/tmp/../etc/x":               "/etc/x",
		"/tmpfile":                    "/tmpfile",
		filepath.Join(d.root, "x"):    filepath.Join(d.root, "x"),
		filepath.Join(d.home, ".x/y"): filepath.Join(b.session.home, ".x/y"),
	} {
		if got := b.HostPath(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestEndOfContext(t *testing.T) {
	d := newDecoy(t)
	b := d.builder()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.View(ctx, &sandbox.Command{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	viewOf(t, b, &sandbox.Command{}) // and the next command is not harmed by it
}

func TestProgramPlaces(t *testing.T) {
	d := newDecoy(t)
	server := filepath.Join(d.home, "srv", "node_modules", "@a", "server", "dist", "main.js")
	d.file(server, "")
	d.file(filepath.Join(d.home, "srv", "node_modules", "@a", "server", "package.json"), "")
	d.file(filepath.Join(d.home, "package.json"), "") // a home folder is no tree of packages
	d.file(filepath.Join(d.outside, "tool", "bin", "run"), "")
	d.link(filepath.Join(d.outside, "tool", "bin", "run"), filepath.Join(d.outside, "run"))
	d.file(filepath.Join(d.outside, "venv", "pyvenv.cfg"), "")
	d.file(filepath.Join(d.outside, "venv", "bin", "x"), "")
	b := d.builder()
	got := b.ProgramPlaces([]string{filepath.Join(d.outside, "run"), server, "--flag", filepath.Join(d.outside, "venv", "bin", "x"), "relative", filepath.Join(d.dir, "none")})
	want := []Place{
		{filepath.Join(d.outside, "tool", "bin"), "the program run"},
		{filepath.Join(d.home, "srv", "node_modules"), "an argument of run"},
		{filepath.Join(d.outside, "venv"), "an argument of run"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	with, err := b.With(got...)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, viewOf(t, with, &sandbox.Command{}), map[string]string{server: "read", filepath.Join(d.home, "srv"): "nothing", d.root: "write"})
	expect(t, viewOf(t, b, &sandbox.Command{}), map[string]string{server: "nothing"})
	for _, path := range []string{d.home, "/", "/tmp", filepath.Join(d.home, ".ssh")} {
		if _, err := b.With(Place{path, ""}); !errors.Is(err, ErrPlace) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
