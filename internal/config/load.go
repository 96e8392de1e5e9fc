package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"garuda/internal/userfile"
)

// maxFile is how large a settings file may be, in bytes.
const maxFile = 1 << 20

// Options say where settings come from.
type Options struct {
	// Home is the folder of the user's configuration: GARUDA_HOME, or ~/.garuda. It is
	// absolute; where there is none, no file of the user is read.
	Home string
	// UserHome serves to show paths below it with a tilde; may be empty.
	UserHome string
	// Root is the project's real path; empty for no project.
	Root string
	// File is a further file (--settings), which must exist; empty for none.
	File string
	// Flags are values from the command line, in order.
	Flags []FlagValue
	// Accepted tells which values of the project the user said yes to; nil for none.
	Accepted func(Want) bool
}

// FlagValue is a setting that was given on the command line.
type FlagValue struct {
	// Flag is its name with dashes, Key the setting's, Text the value as typed. For
	// a list, one FlagValue adds one element.
	Flag, Key, Text string
}

// Load reads every source in order: built-in values, the project's file as far as
// it may, the user's, the user's for this project, --settings, flags. Later ones
// win for single values, lists add up. A file that is missing is skipped, one that
// cannot be used is an *Error.
func Load(o Options) (*Settings, []Notice, error) {
	s := Defaults()
	var notices []Notice
	if o.Root != "" {
		n, err := loadProject(s, o)
		if err != nil {
			return nil, nil, err
		}
		notices = append(notices, n...)
	}
	for _, f := range o.files() {
		n, err := f.load(s)
		if err != nil {
			return nil, nil, err
		}
		notices = append(notices, n...)
	}
	for _, f := range o.Flags {
		if err := f.apply(s); err != nil {
			return nil, nil, err
		}
	}
	return s, notices, nil
}

// Defaults are the built-in values.
func Defaults() *Settings {
	s := &Settings{sources: map[string][]Source{}}
	for _, g := range guardEntries() {
		s.Guard = append(s.Guard, g.GuardEntry)
	}
	for _, k := range table() {
		k.reset(s)
	}
	return s
}

// trustedFile is a file of the user's: what it says counts.
type trustedFile struct {
	path     string
	source   Source
	required bool
}

func (o *Options) files() []trustedFile {
	var files []trustedFile
	// A relative home would make files of the current folder the user's own.
	if filepath.IsAbs(o.Home) {
		files = append(files, trustedFile{path: filepath.Join(o.Home, "settings.json"), source: Source{Kind: User}})
	}
	if filepath.IsAbs(o.Home) && o.Root != "" {
		files = append(files, trustedFile{path: UserProjectFile(o.Home, o.Root), source: Source{Kind: UserProject}})
	}
	if o.File != "" {
		files = append(files, trustedFile{path: o.File, source: Source{Kind: File}, required: true})
	}
	for i := range files {
		files[i].source.Name = Shown(files[i].path, o.UserHome)
	}
	return files
}

// Shown is a path as a person knows it: with a tilde below their home folder, which
// may be empty.
func Shown(path, userHome string) string {
	if userHome != "" {
		if rest, ok := strings.CutPrefix(path, userHome+string(filepath.Separator)); ok {
			return "~/" + filepath.ToSlash(rest)
		}
	}
	return path
}

// RootKey is the first 8 hexadecimal digits of the SHA-256 of a root's real path;
// folders in the user's home that belong to a project are named by it.
func RootKey(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:4])
}

// UserProjectFile is the user's own settings file for a project.
func UserProjectFile(home, root string) string {
	return filepath.Join(home, "projects", RootKey(root), "settings.json")
}

func (f *trustedFile) load(s *Settings) ([]Notice, error) {
	file, err := userfile.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) && !f.required {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(f.source, err)
	}
	if !f.required { // one that was named is taken as it is
		if err := ownFile(file); err != nil {
			return nil, errors.Join(&Error{Source: f.source, Message: err.Error(), Err: err}, file.Close())
		}
	}
	text, err := readAll(file, f.source)
	if err != nil {
		return nil, err
	}
	found, notices, err := decode(text, f.source)
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		e.change.set(s, f.source)
	}
	return notices, nil
}

// projectFile is where a project keeps its settings, from its root.
const projectFile = ".garuda/settings.json"

// loadProject reads the project's own settings, which are not trusted: the only
// ways from them into s are a change's tighten, and the user's yes to exactly this
// value of a key that may be pinned.
func loadProject(s *Settings, o Options) ([]Notice, error) {
	source := Source{Kind: Project, Name: "project " + projectFile}
	text, err := readProjectFile(o.Root, source)
	if err != nil || text == nil {
		return nil, err
	}
	found, notices, err := decode(text, source)
	if err != nil {
		return nil, err
	}
	return append(notices, tighten(s, found, source, o)...), nil
}

// tighten puts into s what a project may say, and tells what it left out.
func tighten(s *Settings, found []entry, source Source, o Options) []Notice {
	var notices []Notice
	for _, e := range found {
		if e.change.tighten != nil && e.change.tighten(s, source) {
			continue
		}
		if e.key.Scope == Pinned {
			want := wanted(e)
			if o.Accepted != nil && o.Accepted(want) {
				e.change.set(s, source)
				continue
			}
			s.wanted = append(s.wanted, want)
		}
		notices = append(notices, Notice{
			Key: e.key.Name, Source: source, Line: e.line,
			Text: fmt.Sprintf("%q is left out: %s", e.key.Name, leftOut(e.key.Scope, o)),
		})
	}
	return notices
}

// leftOut says why a project's value does not count, and what the user can do.
func leftOut(scope Scope, o Options) string {
	switch scope {
	case Stricter:
		return "a project may only make it stricter"
	case Pinned:
		return "it needs your yes, which the chat asks for at its start; or put it into " + Shown(UserProjectFile(o.Home, o.Root), o.UserHome)
	}
	return "a project may not set it; if you want it, put it into " + Shown(UserProjectFile(o.Home, o.Root), o.UserHome)
}

// readProjectFile opens the file through a handle of the root, so that no link in
// the project leads the read elsewhere. It returns nil when there is none.
func readProjectFile(root string, source Source) ([]byte, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, unreadable(source, err)
	}
	defer dir.Close()
	file, err := dir.OpenFile(filepath.FromSlash(projectFile), os.O_RDONLY|userfile.NonBlocking, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, there := dir.Lstat(filepath.FromSlash(projectFile)); there == nil {
			return nil, unreadable(source, userfile.ErrDangling)
		}
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(source, err)
	}
	return readAll(file, source)
}

// readAll reads and closes a regular file of a sane size.
func readAll(file *os.File, source Source) ([]byte, error) {
	text, err := userfile.ReadAll(file, maxFile)
	switch {
	case errors.Is(err, userfile.ErrNotRegular):
		return nil, &Error{Source: source, Message: "not a regular file"}
	case errors.Is(err, userfile.ErrTooLarge):
		return nil, &Error{Source: source, Message: "larger than 1 MB"}
	case err != nil:
		return nil, unreadable(source, err)
	}
	return text, nil
}

// unreadable drops the path that the system's error repeats.
func unreadable(source Source, err error) error {
	message := err.Error()
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		message = p.Err.Error()
	}
	return &Error{Source: source, Message: message, Err: err}
}

func decode(text []byte, source Source) ([]entry, []Notice, error) {
	d, err := parse(text, source)
	if err != nil {
		return nil, nil, err
	}
	return d.entries()
}

func (f *FlagValue) apply(s *Settings) error {
	source := Source{Kind: Flag, Name: f.Flag}
	k := byName()[f.Key]
	if k == nil || k.parse == nil {
		return &Error{Source: source, Message: fmt.Sprintf("no setting %q takes its value from the command line", f.Key)}
	}
	c, err := k.parse(f.Text)
	if err != nil {
		return &Error{Source: source, Message: err.Error(), Err: err}
	}
	c.set(s, source)
	return nil
}
