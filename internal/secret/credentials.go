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

// readCredentials reads a JSON object of key names and keys. A file that does
// not exist is no error and has no keys. What the file is was checked on the
// open file, so that it cannot be another one by the time it is read.
func readCredentials(path string) (map[string]string, error) {
	fail := func(err error, problem, fix string) (map[string]string, error) {
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
func parseCredentials(data []byte) (keys map[string]string, problem string) {
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
	keys = make(map[string]string, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		var v *string
		if err := json.Unmarshal(raw[name], &v); err != nil || v == nil {
			return nil, fmt.Sprintf("the value of %q is not a string", name)
		}
		keys[name] = *v
	}
	return keys, ""
}

// errIsLink is what openNoFollow returns for a symbolic link.
var errIsLink = errors.New("is a symbolic link")
