package testkit

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// TB is what Decoy needs of a testing.TB.
type TB interface {
	Helper()
	Fatal(args ...any)
	TempDir() string
}

// Secret is in every decoy that must not be read, and nowhere else: a test that
// finds it in an output has found a leak.
const Secret = "decoy-7f3a9c-must-not-be-seen"

// Decoy is a project and its surroundings, full of what a tool must not touch.
// Paths within Root and Home use '/'.
type Decoy struct {
	// Base is the temporary folder that holds everything; its links are resolved.
	Base string
	// Root is the project, Home the user's home folder, Outside a folder beside
	// the project.
	Root, Home, Outside string

	tb     TB
	before map[string]string
}

// NewDecoy builds the tree:
//
//	project/main.go, README.md, sub/deep/file.txt, "with space.txt", ünïcode.txt   ordinary files
//	project/.env, sub/.env.local, id_rsa, server.pem, .npmrc, .garuda/settings.json   sensitive or protected
//	project/link-inside → sub/deep/file.txt (relative), link-absolute (the same, absolute)
//	project/link-outside, link-folder, link-climbing, link-home-key, sub/link-env   leave the project or reach a secret
//	project/link-broken, link-loop   lead nowhere
//	project/hard   a hard link to a file outside
//	project/fifo   whose opening blocks
//	home/.ssh/id_ed25519, .aws/credentials, .netrc, .garuda/credentials
//	outside/secret.txt
//
// Links and the FIFO are left out where the system has none (Has tells).
func NewDecoy(tb TB) *Decoy {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	d := &Decoy{Base: base, Root: filepath.Join(base, "project"), Home: filepath.Join(base, "home"), Outside: filepath.Join(base, "outside"), tb: tb}
	for path, content := range map[string]string{
		"project/main.go": "package main\n\nfunc main() {}\n", "project/README.md": "# Project\n", "project/sub/deep/file.txt": "one\ntwo\n",
		"project/with space.txt": "space\n", "project/ünïcode.txt": "ü\n",
		"project/.env": "API_KEY=" + Secret + "\n", "project/sub/.env.local": "TOKEN=" + Secret + "\n",
		"project/id_rsa": Secret + "\n", "project/server.pem": Secret + "\n", "project/.npmrc": "_authToken=" + Secret + "\n",
		"project/.garuda/settings.json": "{}\n",
		"home/.ssh/id_ed25519":          Secret + "\n", "home/.aws/credentials": Secret + "\n", "home/.netrc": "password " + Secret + "\n",
		"home/.garuda/credentials": `{"ANTHROPIC_API_KEY": "` + Secret + `"}`,
		"outside/secret.txt":       Secret + "\n",
	} {
		d.Write(filepath.Join(base, filepath.FromSlash(path)), content)
	}
	for link, target := range map[string]string{
		"link-inside": "sub/deep/file.txt", "link-absolute": filepath.Join(d.Root, "sub", "deep", "file.txt"),
		"link-outside": filepath.Join(d.Outside, "secret.txt"), "link-folder": d.Outside, "link-climbing": "../outside/secret.txt",
		"link-home-key": filepath.Join(d.Home, ".ssh", "id_ed25519"), "sub/link-env": "../.env",
		"link-broken": "no/such/file", "link-loop": "link-loop",
	} {
		// Windows may refuse links to an ordinary user; Has then says so.
		if err := os.Symlink(target, d.Path(link)); err != nil && runtime.GOOS != "windows" {
			tb.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(d.Outside, "secret.txt"), d.Path("hard")); err != nil {
		tb.Fatal(err)
	}
	if err := makeFIFO(d.Path("fifo")); err != nil {
		tb.Fatal(err)
	}
	d.Mark()
	return d
}

// Path is the absolute path of a file of the project.
func (d *Decoy) Path(rel string) string { return filepath.Join(d.Root, filepath.FromSlash(rel)) }

// Has reports whether the project has this entry; a link counts as itself.
func (d *Decoy) Has(rel string) bool {
	_, err := os.Lstat(d.Path(rel))
	return err == nil
}

// Write makes a file (0600) with its folders (0700).
func (d *Decoy) Write(path, content string) {
	d.tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.tb.Fatal(err)
	}
}

// Git makes the project an empty git repository on branch main, as git init
// does, but without running git.
func (d *Decoy) Git() *Decoy {
	d.tb.Helper()
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(d.Path(".git/"+dir), 0o700); err != nil {
			d.tb.Fatal(err)
		}
	}
	d.Write(d.Path(".git/HEAD"), "ref: refs/heads/main\n")
	d.Write(d.Path(".git/config"), "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n")
	d.Mark()
	return d
}

// Mark takes the tree as it is now as what Changes compares with.
func (d *Decoy) Mark() {
	d.tb.Helper()
	d.before = d.snapshot()
}

// Changes lists what has changed since Mark, anywhere below Base: "+ path" for
// what is new, "- path" for what is gone, "~ path" for what is another kind, has
// another mode, target or content. Paths are relative to Base, with '/'.
func (d *Decoy) Changes() []string {
	d.tb.Helper()
	now := d.snapshot()
	var out []string
	for path, was := range d.before {
		is, ok := now[path]
		switch {
		case !ok:
			out = append(out, "- "+path)
		case is != was:
			out = append(out, "~ "+path)
		}
	}
	for path := range now {
		if _, ok := d.before[path]; !ok {
			out = append(out, "+ "+path)
		}
	}
	slices.Sort(out)
	return out
}

// snapshot maps each path to its mode and content. Nothing but regular files is opened.
func (d *Decoy) snapshot() map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(d.Base, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		var content string
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			content, err = os.Readlink(path)
		case info.Mode().IsRegular():
			var data []byte
			data, err = os.ReadFile(path)
			content = string(data)
		}
		rel := strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, d.Base)), "/")
		out[rel] = info.Mode().String() + " " + content
		return err
	})
	if err != nil {
		d.tb.Fatal(err)
	}
	return out
}
