package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf8"

	"garuda/internal/userfile"
)

// trustName is the file of pins in the user's home.
const trustName = "trust.json"

// trustVersion is that of trust.json.
const trustVersion = 1

// Want is a value that a project's file would set, and that counts only with the
// user's yes to exactly this value.
type Want struct {
	Key string
	// Value is the JSON text in one form for all its spellings. It may hold
	// characters that do not show on a screen.
	Value string
	// Line is where it stands in the project's file.
	Line int
	// Hash is over key and value.
	Hash string
}

// Same tells whether two ask for the same value of the same key.
func (w Want) Same(o Want) bool { return w.Hash == o.Hash }

// wanted is what an entry of a project's file asks for.
func wanted(e entry) Want {
	sum := sha256.Sum256([]byte(e.key.Name + "\x00" + e.value))
	return Want{Key: e.key.Name, Value: e.value, Line: e.line, Hash: "sha256:" + hex.EncodeToString(sum[:])}
}

// Wanted are the project's values that were left out for want of the user's yes.
func (s *Settings) Wanted() []Want { return slices.Clone(s.wanted) }

// Trust is what the user said yes to, for good.
type Trust struct {
	path string
	file trustFile
}

// trustFile is trust.json: for each project's real path the hashes of values by key.
type trustFile struct {
	V        int                     `json:"v"`
	Projects map[string]trustProject `json:"projects"`
}

type trustProject struct {
	Settings map[string][]string `json:"settings,omitempty"`
}

// ReadTrust reads the pins below the user's home; none where there is no file. A
// file that cannot be used is an *Error: what it pins cannot be told.
func ReadTrust(home string) (*Trust, error) {
	t := &Trust{path: filepath.Join(home, trustName)}
	if !filepath.IsAbs(home) {
		return &Trust{}, nil
	}
	text, err := readOwn(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err != nil:
		return nil, unreadable(Source{Kind: User, Name: t.path}, err)
	}
	t.file, err = parseTrust(text)
	if err != nil {
		return nil, &Error{Source: Source{Kind: User, Name: t.path}, Message: err.Error(), Err: err}
	}
	return t, nil
}

// readOwn reads a file that only the user may write.
func readOwn(path string) ([]byte, error) {
	file, err := userfile.Open(path)
	if err != nil {
		return nil, err
	}
	if err := ownFile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return userfile.ReadAll(file, maxFile)
}

func parseTrust(text []byte) (trustFile, error) {
	f := trustFile{V: trustVersion}
	if len(text) == 0 {
		return f, nil
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, err
	}
	if f.V != trustVersion {
		return f, fmt.Errorf("it has version %d, and this Garuda knows %d", f.V, trustVersion)
	}
	return f, nil
}

// trustKey is a project's name in trust.json. JSON holds no bytes that are not UTF-8:
// two folders that differ only in such bytes would share their pins, so their names
// stand there quoted, as no path begins.
func trustKey(root string) string {
	if utf8.ValidString(root) {
		return root
	}
	return strconv.Quote(root)
}

// Pinned tells whether the user said yes, for good, to this value of this project.
func (t *Trust) Pinned(root string, w Want) bool {
	return slices.Contains(t.file.Projects[trustKey(root)].Settings[w.Key], w.Hash)
}

// Pin keeps the user's yes to these values of the project at root, its real path.
// A yes to another value of the same key is forgotten: it was for what stood there then.
func (t *Trust) Pin(root string, wants []Want) error {
	if t.path == "" {
		return errors.New("keep what you said yes to: there is no home folder")
	}
	err := Edit(t.path, func(before []byte) ([]byte, error) {
		f, err := parseTrust(before)
		if err != nil {
			return nil, err
		}
		if f.Projects == nil {
			f.Projects = map[string]trustProject{}
		}
		p := f.Projects[trustKey(root)]
		if p.Settings == nil {
			p.Settings = map[string][]string{}
		}
		for _, w := range wants {
			p.Settings[w.Key] = []string{w.Hash}
		}
		f.Projects[trustKey(root)], t.file = p, f
		out, err := json.MarshalIndent(f, "", "  ")
		return append(out, '\n'), err
	})
	if err != nil {
		return fmt.Errorf("keep what you said yes to in %s: %w", t.path, err)
	}
	return nil
}
