package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"garuda/internal/sandbox"
	"garuda/internal/userfile"
)

// gitInfo is the folder info of a repository.
type gitInfo struct {
	path    string
	missing bool
	// top is the work tree: where placeholders lie.
	top string
}

// privateInfo is a copy of a folder info in which git is told to pass over the
// placeholders. It stands for the folder while a command runs: git then neither
// shows nor adds what the sandbox made.
type privateInfo struct {
	folder string
	made   infoState
}

// infoState is what a copy was made from.
type infoState struct {
	files string
	hide  string
}

// infoFiles are what git reads in info, besides exclude. What it writes there, for
// servers without programs, is not among them.
func infoFiles() []string { return []string{"exclude", "attributes", "sparse-checkout", "grafts"} }

// infos locks the folders info. Where placeholders are made a private copy stands for
// the folder; else, and for a backend that can put nothing in a file's place, itself.
func (l *locker) infos() error {
	for _, info := range l.info {
		entry := sandbox.Entry{Path: info.path, Access: sandbox.Locked, Missing: info.missing, Folder: info.missing, Why: "settings of git"}
		if hide := l.hide[info.top]; len(hide) > 0 && !l.b.opt.InPlace {
			folder, err := l.b.privateInfo(info.path, hide)
			if err != nil {
				return fmt.Errorf("hide placeholders from git: %w", err)
			}
			entry.Source = folder
		}
		l.add(entry)
	}
	return nil
}

// privateInfo makes the copy for one repository, or takes the one there is when
// nothing has changed. Another is a new folder, since a command may use the old one.
func (b *Builder) privateInfo(path string, hide []string) (string, error) {
	now := infoState{hide: strings.Join(hide, "\n")}
	for _, name := range infoFiles() {
		if info, err := os.Lstat(filepath.Join(path, name)); err == nil {
			now.files += fmt.Sprintf("%s %d %s\n", name, info.Size(), info.ModTime().Format(time.RFC3339Nano))
		}
	}
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	if have := b.shared.infos[path]; have != nil && have.made == now {
		return have.folder, nil
	}
	folder, err := b.session.newFolder("info-*")
	if err != nil {
		return "", err
	}
	for _, name := range infoFiles() {
		data, err := userfile.Read(filepath.Join(path, name), maxGitFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read %s: %w", filepath.Join(path, name), err)
		}
		if name == "exclude" {
			data = append(data, excludes(data, hide)...)
		} else if err != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			return "", err
		}
	}
	b.shared.infos[path] = &privateInfo{folder, now}
	return folder, nil
}

// excludes are the lines that make git pass over the placeholders.
func excludes(have []byte, hide []string) []byte {
	var out []byte
	if len(have) > 0 && have[len(have)-1] != '\n' {
		out = append(out, '\n')
	}
	escape := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(hide))) {
		out = append(out, "/"+escape.Replace(name)+"\n"...)
	}
	return out
}
