package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"garuda/internal/sandbox"
	"garuda/internal/userfile"
)

// systemFolders hold what every program needs: libraries and programs, no data of
// users. A star ends a name.
func systemFolders() []string {
	if runtime.GOOS == "darwin" {
		return []string{"/usr", "/bin", "/sbin", "/System", "/Library/Developer", "/Library/Frameworks", "/Library/Java", "/opt", "/nix"}
	}
	return []string{"/usr", "/bin", "/sbin", "/lib*", "/opt", "/nix", "/snap"}
}

// ofSystem tells what every command sees of the system.
func ofSystem(path string) bool {
	return slices.ContainsFunc(systemFolders(), func(top string) bool {
		name, star := strings.CutSuffix(top, "*")
		return inside(name, path) || star && strings.HasPrefix(path, name)
	})
}

// system is what every command sees of the system: folders, and links such as /bin.
func system() (entries []sandbox.Entry, links []sandbox.Link, err error) {
	var paths []string
	for _, name := range systemFolders() {
		found, err := filepath.Glob(name)
		if err != nil {
			return nil, nil, err
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			continue // gone since it was listed
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if info.IsDir() {
				entries = append(entries, sandbox.Entry{Path: path, Access: sandbox.ReadOnly, Why: "the system"})
			}
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // it leads nowhere
		}
		target, err := os.Readlink(path)
		if err != nil {
			return nil, nil, fmt.Errorf("read the link %s: %w", path, err)
		}
		// A link whose target is seen is enough; what lies elsewhere, such as an /opt
		// on another disk, is not shown by a name of the system's.
		if slices.ContainsFunc(paths, func(p string) bool { return p != path && inside(p, real) }) {
			links = append(links, sandbox.Link{Path: path, Target: target})
		}
	}
	return entries, links, nil
}

// etcNames are what programs read of /etc, and holds no secret: who the users are
// (without passwords), names and addresses, certificates without keys, how the
// dynamic linker and the toolchains find their parts. A star ends or begins a name.
func etcNames() []string {
	return []string{
		// Users, time, language, terminals, shells.
		"passwd", "group", "localtime", "timezone", "locale.conf", "locale.alias", "default/locale", "environment",
		"machine-id", "os-release", "lsb-release", "debian_version", "redhat-release", "alpine-release", "fedora-release",
		"system-release", "arch-release", "inputrc", "profile", "bash.bashrc", "bashrc", "mime.types",
		// Names and addresses.
		"hosts", "host.conf", "hostname", "nsswitch.conf", "resolv.conf", "gai.conf", "services", "protocols", "networks",
		// Certificates.
		"ssl/certs", "ssl/openssl.cnf", "ssl/cert.pem", "pki/tls/certs", "pki/tls/openssl.cnf",
		"pki/tls/cert.pem", "pki/ca-trust", "pki/java", "crypto-policies",
		// The linker, and which program stands for a name.
		"ld.so.cache", "ld.so.conf", "ld.so.preload", "ld-musl-*", "alternatives", "static",
		// Toolchains and their libraries.
		"java*", "jvm*", "maven", "gradle", "python*", "perl", "ruby*", "php", "npmrc", "pip.conf", "gitconfig",
		"gitattributes", "ghc", "R", "julia", "mono", "dotnet", "fonts", "ImageMagick*", "wgetrc", "texmf",
	}
}

// maxEtcFile is how large a file of /etc may be to be copied.
const maxEtcFile = 1 << 20

// etc is what commands see of /etc. Single files are copied into a private folder
// that stands for /etc, since one mount then shows them all; folders keep their place.
// With InPlace each keeps its own.
func (b *Builder) etc(etc string) (entries []sandbox.Entry, err error) {
	real := realPath(etc)
	var names []string
	for _, pattern := range etcNames() {
		found, err := filepath.Glob(filepath.Join(real, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	private := ""
	if !b.opt.InPlace {
		if private, err = b.session.newFolder("etc-*"); err != nil {
			return nil, err
		}
		entries = append(entries, sandbox.Entry{Path: etc, Source: private, Access: sandbox.ReadOnly, Why: "the system's settings, without secrets"})
	}
	for _, path := range slices.Compact(names) {
		if openSecret(path) {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil: // a link that leads nowhere
		case b.opt.InPlace:
			// What lies behind a link is what is shown: the name itself grants nothing.
			if file, err := filepath.EvalSymlinks(path); err == nil && (inside(real, file) || inside("/usr", file)) {
				entries = append(entries, sandbox.Entry{Path: file, Access: sandbox.ReadOnly, Why: "the system's settings"})
			}
		case info.IsDir():
			folder, err := filepath.EvalSymlinks(path)
			if err != nil || !inside(real, folder) && !inside("/usr", folder) {
				continue
			}
			entry := sandbox.Entry{Path: path, Access: sandbox.ReadOnly, Why: "the system's settings"}
			if folder != path {
				entry.Source = folder
			}
			entries = append(entries, entry)
		case info.Mode().IsRegular():
			if err := copyEtc(real, path, private); err != nil {
				return nil, err
			}
		}
	}
	return entries, nil
}

// openSecret tells names of /etc that match a pattern and are kept secret all the same.
func openSecret(path string) bool {
	name := filepath.Base(path)
	return strings.Contains(name, "secret") || strings.Contains(name, "shadow") || strings.Contains(name, "private") || strings.HasSuffix(name, ".key")
}

// copyEtc copies one file of etc into the private one. What may not be read is left out, as
// it would be for the command; a credential in it is too.
func copyEtc(etc, path, private string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil //nolint:nilerr // gone since it was listed
	}
	rel := strings.TrimPrefix(path, etc)
	to := filepath.Join(private, rel)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		// What leads to the system's folders leads there in the view too.
		if target, err := os.Readlink(path); err == nil && inside("/usr", filepath.Join("/etc", filepath.Dir(rel), target)) || err == nil && inside("/usr", target) {
			return os.Symlink(target, to)
		}
	}
	data, err := userfile.Read(path, maxEtcFile)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, userfile.ErrTooLarge) || errors.Is(err, userfile.ErrNotRegular) || errors.Is(err, userfile.ErrDangling) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	switch rel {
	case "/npmrc", "/pip.conf", "/gitconfig", "/environment", "/wgetrc":
		data = withoutCredentials(data)
	}
	return os.WriteFile(to, data, 0o600)
}
