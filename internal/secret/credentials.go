package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
)

// MaxCredentials is the largest credentials file that is read, in bytes.
const MaxCredentials = 64 << 10

// Stored is what the credentials file has under a key's name: the key, or that the
// key is in the keychain. In the file it is a string, or {"keychain": true}; files
// of versions that knew no keychain hold strings only.
type Stored struct {
	Key        string
	InKeychain bool
}

// MarshalJSON writes what readCredentials reads.
func (s Stored) MarshalJSON() ([]byte, error) {
	if s.InKeychain {
		return []byte(`{"keychain": true}`), nil
	}
	return json.Marshal(s.Key)
}

// readCredentials reads a JSON object of key names and keys (see Stored). A file
// that does not exist is no error and has no keys. What the file is was checked on the
// open file, so that it cannot be another one by the time it is read.
func readCredentials(path string) (map[string]Stored, error) {
	fail := func(err error, problem, fix string) (map[string]Stored, error) {
		return nil, &CredentialsError{Path: path, Problem: problem, Fix: fix, Err: err}
	}
	const store = "store the keys again with `garuda setup`"
	f, err := openNoFollow(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, errIsLink) {
		return fail(err, "it is a symbolic link", "put the file itself there")
	}
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return fail(err, err.Error(), "make it readable for you, or "+store)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fail(err, "its attributes cannot be read", store)
	}
	if !info.Mode().IsRegular() {
		return fail(nil, "it is not a regular file", "move it away and "+store)
	}
	if problem, fix := checkOwner(path, info); problem != "" {
		return fail(nil, problem, fix)
	}
	if info.Size() > MaxCredentials {
		return fail(nil, fmt.Sprintf("it is larger than %d bytes", MaxCredentials), store)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxCredentials+1))
	if err != nil {
		return fail(err, "it cannot be read", store)
	}
	if len(data) > MaxCredentials {
		return fail(nil, fmt.Sprintf("it is larger than %d bytes", MaxCredentials), store)
	}
	keys, problem := parseCredentials(data)
	if problem != "" {
		return fail(nil, problem, "correct it, or "+store)
	}
	return keys, nil
}

// parseCredentials reads the file's content; problem is empty when it is good.
// The decoder's own errors quote the content, so they are not passed on.
func parseCredentials(data []byte) (keys map[string]Stored, problem string) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
			return nil, fmt.Sprintf("it is not valid JSON (line %d)", line)
		}
		return nil, "it is not a JSON object of key names and keys"
	}
	if raw == nil {
		return nil, "it is not a JSON object of key names and keys"
	}
	keys = make(map[string]Stored, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if keys[name], problem = parseStored(raw[name]); problem != "" {
			return nil, fmt.Sprintf("the value of %q is %s", name, problem)
		}
	}
	return keys, ""
}

func parseStored(data json.RawMessage) (s Stored, problem string) {
	const neither = "not a string, nor {\"keychain\": true}"
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) == nil && members != nil {
		if len(members) == 1 && json.Unmarshal(members["keychain"], &s.InKeychain) == nil && s.InKeychain {
			return s, ""
		}
		return Stored{}, neither + " (a newer version of Garuda may have written it)"
	}
	var key *string
	if err := json.Unmarshal(data, &key); err != nil || key == nil {
		return Stored{}, neither
	}
	return Stored{Key: *key}, ""
}

// errIsLink is what openNoFollow returns for a symbolic link.
var errIsLink = errors.New("is a symbolic link")
