package view

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/sandbox"
	"garuda/internal/testkit"
)

// oracle answers for the tools that are asked.
type oracle struct {
	sandbox.Executor
	mu      sync.Mutex
	answers map[string]sandbox.Result
	asked   []string
	env     []string
}

func (o *oracle) Run(_ context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, cmd.Argv[0])
	o.env = cmd.Env
	res, ok := o.answers[filepath.Base(cmd.Argv[0])]
	if !ok {
		return nil, errors.New("it does not start")
	}
	if cmd.Timeout != askWithin || cmd.Limit != askLimit {
		return nil, errors.New("it is not bounded")
	}
	return &res, nil
}

func printed(text string) sandbox.Result {
	return sandbox.Result{Stdout: sandbox.Captured{Head: []byte(text), Total: int64(len(text))}}
}

// program puts an executable file there.
func (d *decoy) program(path string) {
	d.t.Helper()
	d.file(path, "#!/bin/sh\n")
	if err := os.Chmod(path, 0o755); err != nil {
		d.t.Fatal(err)
	}
}

func (d *decoy) env(vars map[string]string) {
	d.opt.Lookup = func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}

func TestToolchains(t *testing.T) {
	d := newDecoy(t)
	bin := filepath.Join(d.home, ".local", "bin")
	for _, name := range []string{"npm", "cargo", "python3"} {
		d.program(filepath.Join(bin, name))
	}
	goroot := filepath.Join(d.outside, "go")
	d.program(filepath.Join(goroot, "bin", "go"))
	d.link(filepath.Join(goroot, "bin", "go"), filepath.Join(bin, "go"))
	cargo := filepath.Join(d.dir, "cargo")
	d.folder(filepath.Join(cargo, "registry"))
	d.file(filepath.Join(cargo, "credentials.toml"), "SECRET")
	d.folder(filepath.Join(d.home, "gopath", "pkg", "mod"))
	d.file(filepath.Join(d.home, ".npmrc"), "//r.example/:_authToken=SECRET\nregistry=https://r.example/\n")
	d.file(filepath.Join(d.home, ".gitconfig"), "[user]\n\tname = U\n")
	d.folder(filepath.Join(d.dir, "npm-cache"))
	d.env(map[string]string{"CARGO_HOME": cargo, "GOPATH": filepath.Join(d.home, "gopath"), "PYENV_ROOT": "relative", "GOROOT": "/a\nb"})
	answer, err := json.Marshal(map[string]string{
		"GOROOT": goroot, "GOMODCACHE": filepath.Join(d.home, "gopath", "pkg", "mod"), "GOCACHE": filepath.Join(d.home, ".cache", "go-build"), "GOPATH": filepath.Join(d.home, "gopath"), "GOENV": "off",
	})
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{answers: map[string]sandbox.Result{
		"go": printed(string(answer)), "npm": printed("cache = " + filepath.Join(d.dir, "npm-cache") + "\nprefix = /usr\n"),
		"python3": {ExitCode: 1},
	}}
	clock := testkit.NewClock()
	d.opt.Clock = clock
	d.opt.Ask, d.opt.Path, d.opt.AskEnv = o, bin+":/nonexistent", []string{"LANG=C", "HOME=/x", "PATH=/y"}
	b := d.builder()
	v := viewOf(t, b, &sandbox.Command{})
	expect(t, v, map[string]string{
		bin: "read", goroot: "read", d.outside: "nothing",
		filepath.Join(d.home, "gopath", "pkg", "mod"): "write",
		filepath.Join(d.home, "gopath", "src"):        "nothing",
		filepath.Join(d.home, ".cache", "go-build"):   "nothing", // see TestCaches
		filepath.Join(d.home, ".cache"):               "nothing",
		filepath.Join(d.dir, "npm-cache"):             "write",
		filepath.Join(cargo, "registry"):              "write",
		filepath.Join(cargo, "credentials.toml"):      "nothing",
	})
	npmrc := at(v, filepath.Join(d.home, ".npmrc"))
	if text, err := os.ReadFile(npmrc.Source); err != nil || string(text) != "registry=https://r.example/\n" || npmrc.Access != sandbox.ReadOnly {
		t.Errorf(".npmrc is %+v: %q, %v", npmrc, text, err)
	}
	if !slices.Contains(o.env, "HOME="+d.home) || slices.Contains(o.env, "HOME=/x") || !slices.Contains(o.env, "CARGO_HOME="+cargo) {
		t.Errorf("the tools are asked with %v", o.env)
	}
	if diff := cmp.Diff([]string{"CARGO_HOME=" + cargo, "GOPATH=" + filepath.Join(d.home, "gopath"), "TMPDIR=/tmp"}, b.Env()); diff != "" {
		t.Error(diff)
	}

	// The next session asks only what was changed since, and a day later what had not
	// answered.
	o.asked = nil
	d.program(filepath.Join(bin, "npm"))
	d.file(filepath.Join(bin, "npm"), "#!/bin/sh\n# another\n")
	expect(t, d.view(), map[string]string{goroot: "read"})
	slices.Sort(o.asked)
	if diff := cmp.Diff([]string{filepath.Join(bin, "npm")}, o.asked); diff != "" {
		t.Error(diff)
	}
	x, err := d.builder().Explain(t.Context())
	if silent := (Left{filepath.Join(bin, "python3"), "it does not name its folders"}); err != nil || !slices.Contains(x.Left, silent) {
		t.Errorf("%v, %v", x, err)
	}
	o.asked = nil
	clock.Advance(askAgain)
	d.view()
	if diff := cmp.Diff([]string{filepath.Join(bin, "python3")}, o.asked); diff != "" {
		t.Error(diff)
	}
	// A record that is not understood is as none.
	for _, text := range []string{"{", `{"v":2,"tools":{}}`, `{"v":1,"tools":{"go":{"places":[{"path":"/"},{"path":"` + d.home + `","write":true}]}}}`} {
		d.file(filepath.Join(d.garuda, toolchainsFile), text)
		expect(t, d.view(), map[string]string{goroot: "read", d.home: "nothing", "/sys": "nothing"})
	}
}

// Whatever a tool answers, no view is widened by it.
func TestHostileAnswers(t *testing.T) {
	d := newDecoy(t)
	bin := filepath.Join(d.dir, "bin")
	d.program(filepath.Join(bin, "uv"))
	d.program(filepath.Join(bin, "pyenv"))
	d.link(d.home, filepath.Join(d.outside, "home"))
	d.link("/", filepath.Join(d.outside, "top"))
	d.link(filepath.Join(d.home, ".ssh"), filepath.Join(d.home, ".cache", "uv"))
	d.opt.Path = bin
	want := map[string]string{
		d.home: "nothing", filepath.Join(d.home, ".ssh", "id_ed25519"): "nothing", filepath.Join(d.home, ".config", "gh"): "nothing", d.garuda: "nothing",
		d.outside: "nothing", d.dir: "nothing", "/sys": "nothing", "/root/x": "nothing", "/proc/1": "nothing", "/dev/mem": "nothing", "/run/x": "nothing",
		"/var/lib": "nothing", "/srv": "nothing", "/mnt": "nothing", d.root: "write", filepath.Dir(d.root): "nothing",
	}
	for _, path := range []string{
		"/", "//", "/..", d.home, d.home + "/", d.home + "/.", filepath.Join(d.outside, "home"), filepath.Join(d.outside, "top"), filepath.Join(d.outside, "home", ".ssh"),
		"/tmp", "/var/tmp", "/etc", "/etc/ssh", "/proc", "/proc/self/root", "/dev", "/sys", "/run", "/root", "/home", "/home/other", "/srv", "/var", "/mnt", "/data",
		filepath.Join(d.home, ".ssh"), filepath.Join(d.home, ".config"), filepath.Join(d.home, ".config", "gh", "hosts.yml"), d.garuda, filepath.Dir(d.home),
		filepath.Join(d.home, ".netrc"), filepath.Join(d.home, "src"), d.root, d.dir, "relative", "../..", "~", "$HOME", "\x00/usr", "/usr\nb/../..", "/x\x1b[2J", strings.Repeat("/a", 3000),
		filepath.Join(d.root, ".git"),
	} {
		if err := os.RemoveAll(filepath.Join(d.garuda, toolchainsFile)); err != nil {
			t.Fatal(err)
		}
		text := printed(path + "\n" + path)
		d.opt.Ask = &oracle{answers: map[string]sandbox.Result{"uv": text, "pyenv": text}} // one to write, one to read
		expect(t, d.view(), want)
		if t.Failed() {
			t.Fatalf("they answered %q", path)
		}
	}
}

func TestHomesOfOthers(t *testing.T) {
	r := &placeRules{homes: []string{"/home/u", "/data/home/u"}}
	for path, want := range map[string]bool{
		"/home/u/.cargo": false, "/home/v/.cargo": true, "/home/v": true, "/root/.cargo": true, "/Users/v/x": true, "/Users/Shared/x": false,
		"/home/linuxbrew/.linuxbrew/Cellar": false, "/home/linuxbrew/x": true, "/data/home/u/x": false, "/opt/x": false,
	} {
		if got := r.othersHome(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestAnswersThatAreLeftOut(t *testing.T) {
	d := newDecoy(t)
	place := filepath.Join(d.outside, "cache")
	d.folder(place)
	d.program(filepath.Join(d.dir, "bin", "uv"))
	d.opt.Path = filepath.Join(d.dir, "bin")
	good := printed(place)
	late, failed, long := good, good, good
	late.TimedOut, failed.ExitCode, long.Stdout.Total = true, 1, askLimit+1
	for name, c := range map[string]struct {
		result sandbox.Result
		want   string
	}{"good": {good, "write"}, "late": {late, "nothing"}, "failed": {failed, "nothing"}, "long": {long, "nothing"}} {
		if err := os.RemoveAll(filepath.Join(d.garuda, toolchainsFile)); err != nil {
			t.Fatal(err)
		}
		d.opt.Ask = &oracle{answers: map[string]sandbox.Result{"uv": c.result}}
		b := d.builder()
		if got := sees(viewOf(t, b, &sandbox.Command{}), place); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		x, err := b.Explain(t.Context())
		if err != nil || (len(x.Left) > 0) != (c.want == "nothing") {
			t.Errorf("%s: %v, %v", name, x, err)
		}
	}
}

// No program is asked, or shown for itself, that a command may have put there.
func TestProgramsThatCommandsCanWrite(t *testing.T) {
	d := newDecoy(t)
	written := filepath.Join(d.outside, "w")
	for _, dir := range []string{filepath.Join(d.root, "bin"), filepath.Join(written, "bin")} {
		d.program(filepath.Join(dir, "uv"))
	}
	d.link(filepath.Join(d.root, "bin"), filepath.Join(d.outside, "link"))
	d.opt.WritePaths = []string{written}
	o := &oracle{}
	d.opt.Ask = o
	d.opt.Path = strings.Join([]string{filepath.Join(d.root, "bin"), filepath.Join(written, "bin"), filepath.Join(d.outside, "link"), "bin", "."}, ":")
	d.view()
	if len(o.asked) > 0 {
		t.Errorf("asked %v", o.asked)
	}
}

func TestCredentials(t *testing.T) {
	cases := map[string]string{
		"[user]\n\tname = A\n\temail = a@b.example\n":                                   "[user]\n\tname = A\n\temail = a@b.example\n",
		"[credential]\n\thelper = store\n[user]\n\tname = A\n":                          "[user]\n\tname = A\n",
		"[url \"https://u:SECRET@h/\"]\n\tinsteadOf = x\n[core]\n\tpager = less\n":      "[core]\n\tpager = less\n",
		"[http]\n\textraHeader = Authorization: SECRET\n\tproxy = http://p:1\n":         "[http]\n\tproxy = http://p:1\n",
		"registry=https://r.example/\n//r.example/:_authToken=SECRET\n_password=SECRET": "registry=https://r.example/\n",
		"[global]\nindex-url = https://u:SECRET@h/simple\ntimeout = 5\n":                "[global]\ntimeout = 5\n",
		"[global]\nindex-url =\n    https://u:SECRET@h/simple\ntimeout = 5\n":           "[global]\nindex-url =\ntimeout = 5\n",
		"password =\n  SECRET=SECRET\n  SECRET\nx = 1\n":                                "x = 1\n",
		"token = \\\nSECRET\nx = 1\n":                                                   "x = 1\n",
		"registries = { a = { token = \"SECRET\" } }\nx = 1\n":                          "x = 1\n",
		"systemProp.http.proxyPassword=SECRET\norg.gradle.daemon=false":                 "org.gradle.daemon=false",
		"url = ssh://git@h/x\n":                                                         "url = ssh://git@h/x\n",
	}
	for in, want := range cases {
		if diff := cmp.Diff(want, string(withoutCredentials([]byte(in)))); diff != "" {
			t.Errorf("%q:\n%s", in, diff)
		}
	}
	for text, want := range map[string]bool{"<server><password>SECRET</password></server>": true, "<mirror><url>https://m.example</url></mirror>": false, "https://u@h/": true} {
		if got := namesCredential([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func FuzzWithoutCredentials(f *testing.F) {
	f.Add("[a]\nb = c\n", "x")
	f.Fuzz(func(t *testing.T, before, value string) {
		if strings.ContainsAny(value, "\n\\") || len(value) < 8 || strings.Contains(before, value) || strings.HasSuffix(before, "\\") {
			return
		}
		out := withoutCredentials([]byte(before + "\ntoken = " + value + "\n"))
		if strings.Contains(string(out), value) {
			t.Errorf("%q shows %q", before, value)
		}
	})
}

func FuzzAnswers(f *testing.F) {
	f.Add(`{"GOROOT": "/x", "GOPATH": "/a:/b"}`)
	f.Add("cache = /x\nprefix = /y\n")
	f.Fuzz(func(_ *testing.T, out string) {
		for _, t := range tools() {
			if t.answer != nil {
				t.answer(out)
			}
		}
	})
}

// A tool that was too slow is asked again soon, later each time, and not while the
// machine is busy; one that fails is left alone for a day.
func TestSlowAnswers(t *testing.T) {
	d := newDecoy(t)
	d.program(filepath.Join(d.dir, "bin", "uv"))
	d.program(filepath.Join(d.dir, "bin", "pyenv"))
	clock := testkit.NewClock()
	o := &oracle{answers: map[string]sandbox.Result{"uv": {TimedOut: true}, "pyenv": {ExitCode: 1}}}
	d.opt.Path, d.opt.Clock, d.opt.Ask = filepath.Join(d.dir, "bin"), clock, o
	busy := false
	asked := func() int {
		o.asked = nil
		b := d.builder()
		b.busy = func() bool { return busy }
		viewOf(t, b, &sandbox.Command{})
		return len(o.asked)
	}
	for i, step := range []struct {
		after time.Duration
		busy  bool
		want  int
	}{
		{0, false, 2}, {askLater - time.Second, false, 0}, {time.Second, true, 0}, {0, false, 1},
		{askLater, false, 0}, {askLater, false, 1}, {3 * askLater, false, 0}, {askLater, false, 1}, {askAgain, true, 2},
	} {
		clock.Advance(step.after)
		busy = step.busy
		if got := asked(); got != step.want {
			t.Errorf("step %d: asked %d, want %d", i, got, step.want)
		}
	}
	o.answers["uv"] = printed(d.outside)
	clock.Advance(askAgain)
	asked()
	clock.Advance(2 * askAgain)
	if got := asked(); got != 1 { // only the one that fails
		t.Errorf("asked %d", got)
	}
}
