package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"garuda/internal/sandbox"
	"garuda/internal/workspace"
)

// secretPlaces lie in the home folder and are in no view, whatever names them.
func secretPlaces() []string {
	return []string{
		".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".netrc", ".npmrc", ".pypirc", ".git-credentials",
		".config/gcloud", ".config/gh", ".config/glab-cli", ".config/hub", ".config/git/credentials", ".config/op",
		".config/doctl", ".config/rclone", ".config/google-chrome", ".config/chromium", ".config/containers",
		".local/share/keyrings", ".password-store", ".mozilla", ".thunderbird", ".vault-token", ".terraform.d",
		".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings-security.xml",
		".claude.json", ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".bash_history",
		".zsh_history", "Library/Keychains", "Library/Cookies", "Library/Application Support/Google",
		"Library/Application Support/Firefox",
	}
}

// placeRules say which places may be shown to commands at all.
type placeRules struct {
	// home and garuda are real paths, "" without one, and home also where it is no
	// folder of its own, such as /; homes are all spellings of home.
	home, garuda string
	homes        []string
	root         string
	// secrets are the secret places as they are written and where they lead.
	secrets []string
	opt     workspace.Options
}

func newPlaceRules(opt *Options) *placeRules {
	r := &placeRules{root: opt.Root, opt: workspace.Options{Home: opt.Home, GarudaHome: opt.GarudaHome}}
	if opt.Home != "" {
		home := realPath(opt.Home)
		if homeAt(opt) == home {
			r.home = home
			r.homes = both(filepath.Clean(opt.Home), home)
		}
		for _, name := range secretPlaces() {
			path := filepath.Join(home, filepath.FromSlash(name))
			r.secrets = append(r.secrets, both(path, realPath(path))...)
		}
	}
	if opt.GarudaHome != "" {
		r.garuda = realPath(opt.GarudaHome)
		r.secrets = append(r.secrets, both(filepath.Clean(opt.GarudaHome), r.garuda)...)
	}
	return r
}

func both(a, b string) []string {
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}

// realPath follows the links of a path whose last parts may not exist.
func realPath(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if filepath.Dir(dir) == dir {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// follow is the real path of something that exists.
func follow(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s: %w: it is no absolute path", path, ErrPlace)
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("%q: %w: its name holds control characters", path, ErrPlace)
	}
	return filepath.EvalSymlinks(path)
}

// named is the real path of a place that settings name. The error is fs.ErrNotExist
// where there is nothing.
func (r *placeRules) named(path string) (string, error) {
	real, err := follow(path)
	if err != nil {
		return "", err
	}
	return real, r.check(path, real)
}

// checkTold is check for a place that a tool named, which deserves less trust: it may
// not hold the project, and no folder at the top of the file system is one.
func (r *placeRules) checkTold(path, real string) error {
	switch {
	case inside(real, r.root):
		return r.refuse(path, "it holds the project")
	case inside(r.root, real):
		return r.refuse(path, "it lies in the project")
	case filepath.Dir(filepath.Dir(real)) == filepath.Dir(real):
		return r.refuse(path, "it is a whole folder at the top of the file system")
	case inside("/etc", real), inside("/private/etc", real):
		return r.refuse(path, "it lies in /etc")
	case r.othersHome(real):
		return r.refuse(path, "it lies in the home folder of another user")
	}
	return r.check(path, real)
}

// othersHome tells what lies where systems keep the users' homes, but not in this
// user's. Homebrew's own folder there is nobody's home.
func (r *placeRules) othersHome(real string) bool {
	for _, own := range append([]string{"/home/linuxbrew/.linuxbrew", "/Users/Shared"}, r.homes...) {
		if inside(own, real) {
			return false
		}
	}
	for _, homes := range []string{"/home", "/Users", "/root", "/var/root"} {
		if inside(homes, real) {
			return true
		}
	}
	return false
}

// check says why a place with this real path may not be shown: ErrPlace.
func (r *placeRules) check(path, real string) error {
	if err := workspace.CheckRoot(real, r.opt); err != nil {
		var why *workspace.RootError
		if errors.As(err, &why) {
			return r.refuse(path, why.Reason)
		}
		return err
	}
	for _, secret := range r.secrets {
		switch {
		case inside(secret, real):
			return r.refuse(path, "it lies in "+secret+", where secrets are kept")
		case inside(real, secret):
			return r.refuse(path, "it holds "+secret+", where secrets are kept; name what is needed of it")
		}
	}
	switch real {
	case "/etc", "/private/etc", "/var", "/private/var", "/home", "/Users", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt":
		return r.refuse(path, "it is one of the system's own folders; name what is needed of it")
	}
	for _, own := range []string{"/run", "/boot"} {
		if inside(own, real) {
			return r.refuse(path, "it lies in "+own+", which is the system's")
		}
	}
	return nil
}

func (r *placeRules) refuse(path, why string) error {
	return fmt.Errorf("%s: %w: %s", path, ErrPlace, why)
}

// secretMasks hide the secret places that entries show all the same: in the project
// or an added folder, which may lie anywhere.
func (r *placeRules) secretMasks(root string, entries []sandbox.Entry) []sandbox.Entry {
	var out []sandbox.Entry
	for _, secret := range r.secrets {
		if inside(secret, root) || !shows(entries, secret) {
			continue // the user works in it, or it is not there
		}
		if info, err := os.Lstat(secret); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			out = append(out, sandbox.Entry{Path: secret, Access: sandbox.Masked, Folder: info.IsDir(), Why: "secrets"})
		}
	}
	return out
}

// shows tells whether entries show what lies at a path of the machine.
func shows(entries []sandbox.Entry, path string) bool {
	for i := len(entries) - 1; i >= 0; i-- { // the deepest comes last
		if inside(entries[i].Path, path) {
			return entries[i].Source == "" && !entries[i].Missing
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
