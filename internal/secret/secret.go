// Package secret holds what must not be seen: provider keys and the values of
// secret-named environment variables. At start it takes them out of the
// process's environment, so that neither a child nor another process of the
// user can read them there, and afterwards it is the only place that has them.
//
// It writes a secret nowhere but into the system's keychain or the credentials
// file, and there only what `garuda setup` was given; it never puts one into an
// error, and never decides who may have one.
package secret

import (
	"slices"
	"strings"
)

// MinRedact is the shortest value, in bytes, that the redactor is told of:
// shorter ones would blank out ordinary words.
const MinRedact = 8

// SourceCredentials and SourceKeychain are the sources of a key that came from the
// credentials file or, as that file says, from the keychain. A key from the
// environment has its variable's name as source.
const (
	SourceCredentials = "credentials"
	SourceKeychain    = "keychain"
)

// IsStored reports whether a source is one where `garuda setup` stores keys.
func IsStored(source string) bool { return source == SourceCredentials || source == SourceKeychain }

// nameParts mark a variable as secret by its name, whatever the case.
var nameParts = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"}

// Named reports whether an environment variable's name says that its value is secret.
func Named(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc(nameParts, func(part string) bool { return strings.Contains(upper, part) })
}

// Store holds the secrets of one process. It is immutable and safe for use by
// any number of goroutines.
type Store struct {
	env         map[string]string // taken from the environment, untrimmed
	credentials map[string]Stored
	keychain    map[string]string // what could be read of the keychain
	passwords   []string          // of addresses in the environment
	warnings    []string
}

// NewStore makes a Store from values at hand, for tests and for surfaces that
// are given keys by their caller. Both maps go from key name to key.
func NewStore(env, credentials map[string]string) *Store {
	s := &Store{env: env, credentials: map[string]Stored{}}
	for name, key := range credentials {
		s.credentials[name] = Stored{Key: key}
	}
	return s
}

// Key returns the key with this name and where it came from: the environment
// first, then the credentials file or, where that says so, the keychain. White space around it is dropped, and a key
// that is empty then does not count.
func (s *Store) Key(name string) (value, source string, ok bool) {
	if v := strings.TrimSpace(s.env[name]); v != "" {
		return v, name, true
	}
	if v := strings.TrimSpace(s.credentials[name].Key); v != "" {
		return v, SourceCredentials, true
	}
	if v := strings.TrimSpace(s.keychain[name]); v != "" {
		return v, SourceKeychain, true
	}
	return "", "", false
}

// Variable returns an environment variable that was taken out of the
// environment, as it was. Whoever builds a command's environment asks here for
// the variables that the user's env.allow names.
func (s *Store) Variable(name string) (string, bool) {
	v, ok := s.env[name]
	return v, ok
}

// Values returns every secret of at least MinRedact bytes, longest first, so
// that a redactor which replaces them in order never leaves the rest of a
// longer one behind.
func (s *Store) Values() []string {
	out := slices.Clone(s.passwords)
	for _, m := range []map[string]string{s.env, s.keychain} {
		for _, v := range m {
			out = append(out, v, strings.TrimSpace(v))
		}
	}
	for _, c := range s.credentials {
		out = append(out, c.Key, strings.TrimSpace(c.Key))
	}
	out = slices.DeleteFunc(out, func(v string) bool { return len(v) < MinRedact })
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(out)
}

// Warnings says, a line each, in what way the environment could not be cleared
// as promised, and which keys the keychain did not give; the user is told, and
// `garuda doctor` shows them.
func (s *Store) Warnings() []string { return slices.Clone(s.warnings) }

// String keeps a Store that is printed by mistake from showing what it holds.
func (s *Store) String() string { return "secret.Store(hidden)" }

// GoString does the same for %#v.
func (s *Store) GoString() string { return s.String() }
