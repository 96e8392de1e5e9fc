package attack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/host"
	"garuda/internal/sandbox/view"
	"garuda/internal/sandbox/wrapped"
)

// Key is a variable of the decoy process, and of what Prepare is told of Garuda's own
// environment. Its value, and every decoy secret, is Secret.
const (
	Key    = "GARUDA_TEST_KEY"
	Secret = "SECRET"
)

// Options of Prepare.
type Options struct {
	Supervisor *proc.Supervisor
	// Dir is a folder for everything, with its real path; it is empty, or made here.
	// Whoever names it removes it.
	Dir string
	// New makes an executor of the sandbox that is tried. It is called for each case.
	New func(wrapped.Options) (sandbox.Executor, error)
	// Lookup reads Garuda's environment (os.LookupEnv).
	Lookup func(name string) (string, bool)
	// InPlace and Limits are as in the options of a view.
	InPlace bool
	Limits  sandbox.Limits
}

// Decoys are a false machine within the true one.
type Decoys struct {
	opt       Options
	host      *host.Executor
	home      string
	path      string
	listening *listeners
	process   sandbox.Process
	// programs are those of all cases that run in the sandbox.
	programs []string
	// strays are files of the machine that cases try to make and that were not there.
	strays []string
}

// ErrPlace is returned for a folder whose path cannot stand in the text of a command.
var ErrPlace = errors.New("decoys cannot lie there, since the path has characters that mean something to a shell")

// Prepare makes the decoys, and finds out which programs run in the sandbox. The error
// says what could not be made; nothing is left running then.
func Prepare(ctx context.Context, opt Options) (_ *Decoys, err error) {
	if strings.ContainsFunc(opt.Dir, func(r rune) bool {
		return !strings.ContainsRune("/._-+@=,:", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return nil, fmt.Errorf("make decoys in %q: %w", opt.Dir, ErrPlace)
	}
	d := &Decoys{opt: opt, home: filepath.Join(opt.Dir, "home")}
	d.path = systemPath
	if path, ok := opt.Lookup("PATH"); ok {
		d.path += string(filepath.ListSeparator) + path
	}
	d.host = host.New(host.Options{Supervisor: opt.Supervisor, Path: d.path})
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("make the decoys: %w", err), d.Close())
		}
	}()
	for _, place := range strayPlaces() {
		if _, err := os.Lstat(place); errors.Is(err, os.ErrNotExist) {
			d.strays = append(d.strays, place)
		}
	}
	if err := writeAll(d.home, homeFiles()); err != nil {
		return nil, err
	}
	if d.listening, err = listen(ctx, opt.Dir); err != nil {
		return nil, err
	}
	sleep := proc.LookPath("sleep", d.path)
	if sleep == "" {
		return nil, fmt.Errorf("%w: sleep", proc.ErrNotFound)
	}
	d.process, err = d.host.Start(context.WithoutCancel(ctx), &sandbox.Command{
		Argv: []string{sleep, "100000"}, Dir: opt.Dir, Env: []string{Key + "=" + Secret, "PATH=" + d.path},
	})
	if err != nil {
		return nil, err
	}
	if err := d.findPrograms(ctx); err != nil {
		return d, err
	}
	return d, nil
}

// systemPath comes before the user's own PATH: what lies in his home is not shown,
// since the decoys' home stands in its place.
const systemPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

// findPrograms asks in the sandbox which programs of the cases run there.
func (d *Decoys) findPrograms(ctx context.Context) error {
	var needed []string
	for _, c := range Cases() {
		needed = append(needed, c.Needs...)
	}
	slices.Sort(needed)
	var text strings.Builder
	for _, p := range slices.Compact(needed) {
		fmt.Fprintf(&text, "command -v %s >/dev/null && echo %s\n", p, p)
	}
	out, err := d.inside(ctx, "programs", text.String()+"true")
	d.programs = strings.Fields(string(out))
	if d.opt.Limits.FileBytes > 0 {
		d.programs = append(d.programs, fileLimit)
	}
	return err
}

// Close ends what listens and the decoy process, and removes what commands that were
// not held made on the machine. The folder of the decoys stays.
func (d *Decoys) Close() error {
	var err error
	if d.process != nil {
		d.process.Kill()
		_, err = d.process.Wait()
	}
	if d.listening != nil {
		err = errors.Join(err, d.listening.close())
	}
	for _, place := range d.strays {
		if removed := os.RemoveAll(place); removed != nil && !errors.Is(removed, os.ErrPermission) {
			err = errors.Join(err, removed)
		}
	}
	return errors.Join(err, removeShared())
}

// try runs a case and tells whether it held.
func (d *Decoys) try(ctx context.Context, c *Case) (held bool, err error) {
	out, err := d.inside(ctx, c.ID, c.Command)
	if err != nil {
		return false, &refusedError{err}
	}
	dir := d.dir(c.ID)
	if err := os.WriteFile(filepath.Join(dir, "out"), out, 0o600); err != nil {
		return false, err
	}
	res, err := d.host.Run(ctx, &sandbox.Command{
		Argv: []string{"bash", "-c", d.expand(dir, c.Holds)}, Dir: filepath.Join(dir, "project"),
		Env: []string{"PATH=" + d.path, "HOME=" + d.home, "LC_ALL=C"}, Timeout: limit,
	})
	if err != nil {
		return false, fmt.Errorf("look whether it held: %w", err)
	}
	if err := d.leftovers(dir); err != nil {
		return false, err
	}
	return res.ExitCode == 0, nil
}

// limit is how long one command may take.
const limit = 2 * time.Minute

func (d *Decoys) dir(id string) string { return filepath.Join(d.opt.Dir, "cases", id) }

// inside runs a command in the sandbox, in a new project, and returns what it printed.
func (d *Decoys) inside(ctx context.Context, id, command string) (out []byte, err error) {
	dir := d.dir(id)
	root := filepath.Join(dir, "project")
	if err := writeAll(dir, projectFiles()); err != nil {
		return nil, err
	}
	env := sandbox.BuildEnv(sandbox.EnvOptions{Lookup: d.lookup})
	b, err := view.NewBuilder(view.Options{
		Root: root, Home: d.home, GarudaHome: filepath.Join(d.home, ".garuda"), Lookup: d.lookup, Path: d.path,
		Ask: d.host, AskEnv: env, Limits: d.opt.Limits, InPlace: d.opt.InPlace,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	e, err := d.opt.New(wrapped.Options{
		Supervisor: d.opt.Supervisor, View: b.View, Path: d.path, Root: root, Records: filepath.Join(d.opt.Dir, "records"),
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Shutdown(context.WithoutCancel(ctx))) }()
	res, err := e.Run(ctx, &sandbox.Command{
		Argv: []string{"bash", "-c", d.expand(dir, command)}, Dir: root, Limit: 1 << 20, Timeout: limit,
		Env: sandbox.WithEnv(env, b.Env()),
	})
	if err != nil {
		return nil, err
	}
	return slices.Concat(res.Stdout.Head, res.Stdout.Tail), context.Cause(ctx)
}

// leftovers tells of what was made in the project only to be locked and is still there.
func (d *Decoys) leftovers(dir string) error {
	for _, name := range []string{".garuda", ".vscode", ".mcp.json", ".git/commondir"} {
		path := filepath.Join(dir, "project", name)
		if info, err := os.Lstat(path); err == nil {
			return fmt.Errorf("the placeholder %s (%v) was left in the project", name, info.Mode())
		}
	}
	return nil
}

// lookup is Garuda's environment as far as decoys go: with the home and secrets of
// these, and with sockets of agents that must not be handed on.
func (d *Decoys) lookup(name string) (string, bool) {
	switch name {
	case "HOME":
		return d.home, true
	case "PATH":
		return d.path, true
	case "TMPDIR":
		return "", false
	case Key, "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "ANTHROPIC_API_KEY", "NPM_TOKEN":
		return Secret, true
	case "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "GPG_AGENT_INFO", "WAYLAND_DISPLAY", "DISPLAY":
		return d.listening.socket, true
	}
	if strings.HasPrefix(name, "XDG_") {
		return "", false // they would lead to the user's own home
	}
	return d.opt.Lookup(name)
}

// expand puts the decoys' places into the text of a case.
func (d *Decoys) expand(dir, text string) string {
	outside := filepath.Join(dir, "outside")
	vars := map[string]string{
		"ROOT": filepath.Join(dir, "project"), "HOME": d.home, "OUTSIDE": outside, "MARK": filepath.Join(outside, "pwned"),
		"OUT": filepath.Join(dir, "out"),
	}
	if d.listening != nil {
		maps.Copy(vars, d.listening.variables())
	}
	if d.process != nil {
		vars["DECOY_PID"] = strconv.Itoa(d.process.Pid())
	}
	for name, n := range numbers() {
		vars[name] = strconv.Itoa(n)
	}
	names := slices.Sorted(maps.Keys(vars))
	slices.Reverse(names) // OUTSIDE before OUT
	for _, name := range names {
		text = strings.ReplaceAll(text, "$"+name, vars[name])
	}
	return text
}

// writeAll makes files below a folder; a name that ends with a slash is a folder.
func writeAll(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// homeFiles are what a home folder keeps secret, and settings that name a secret.
func homeFiles() map[string]string {
	const s = Secret + "\n"
	return map[string]string{
		".ssh/id_ed25519": s, ".ssh/config": s, ".ssh/authorized_keys": s, ".aws/credentials": s, ".netrc": "machine x password " + s,
		".gnupg/private-keys-v1.d/key": s, ".config/gh/hosts.yml": "oauth_token: " + s, ".docker/config.json": `{"auth": "` + Secret + `"}`,
		".kube/config": "token: " + s, ".npmrc": "registry=https://registry.example/\n//registry.example/:_authToken=" + s,
		".git-credentials": "https://u:" + Secret + "@example.com\n", ".gitconfig": "[user]\n\tname = a\n[http]\n\textraheader = Bearer " + s,
		".garuda/credentials": `{"ANTHROPIC_API_KEY": "` + Secret + `"}`, ".bash_history": "export TOKEN=" + s, ".bashrc": "export TOKEN=" + s,
		".mozilla/firefox/x.default/logins.json": s, ".config/google-chrome/Default/Login Data": s, ".local/share/keyrings/login.keyring": s,
		".config/gcloud/credentials.db": s, ".azure/accessTokens.json": s, ".password-store/mail.gpg": s, ".pypirc": "password = " + s,
		".cargo/credentials.toml": "token = " + s, ".gradle/gradle.properties": "systemProp.password=" + s, ".m2/settings.xml": "<password>" + s + "</password>",
		".config/pip/pip.conf": "[global]\nindex-url = https://u:" + Secret + "@example.com/simple\n", "documents/letter.txt": s, ".vault-token": s, ".terraform.d/credentials.tfrc.json": s,
	}
}

// projectFiles are a project with a repository as git init makes it, and a folder
// beside it.
func projectFiles() map[string]string {
	return map[string]string{
		"project/main.go": "package main\n", "project/AGENTS.md": "# Rules\n", "outside/file": Secret + "\n",
		"project/.bashrc": "# ours\n", "project/.gitconfig": "",
		"project/.git/HEAD": "ref: refs/heads/main\n", "project/.git/hooks/": "", "project/.git/info/": "",
		"project/.git/modules/m/HEAD": "ref: refs/heads/main\n", "project/.git/modules/m/config": "[core]\n\tbare = false\n", "project/.git/modules/m/hooks/": "",
		"project/.git/objects/info/": "", "project/.git/objects/pack/": "", "project/.git/refs/heads/": "", "project/.git/refs/tags/": "",
		"project/.git/config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
	}
}
