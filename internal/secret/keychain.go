package secret

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Keychain is the system's own store for secrets. Its methods may be called from
// several goroutines, answer within a time of their own, ask the user nothing
// that they could wait for without an end, and start no service.
type Keychain interface {
	// Title names it in a sentence, such as "the macOS keychain".
	Title() string
	// Probe says why it cannot be used now; nil when it can.
	Probe(ctx context.Context) error
	// Get returns ErrNotInKeychain for a key that is not there.
	Get(ctx context.Context, name string) (string, error)
	Set(ctx context.Context, name, key string) error
	// Delete of a key that is not there is no error.
	Delete(ctx context.Context, name string) error
}

// ErrNotInKeychain says that a keychain works and does not have a key.
var ErrNotInKeychain = errors.New("it is not there")

// NoKeychain stands for the keychain of a system that has none, or none that
// Garuda knows.
type NoKeychain struct{}

var errNoKeychain = errors.New("this system has none that Garuda knows")

// Title names it.
func (NoKeychain) Title() string { return "a keychain" }

// Probe says that there is none, as the other methods do.
func (NoKeychain) Probe(context.Context) error { return errNoKeychain }

// Get fails.
func (NoKeychain) Get(context.Context, string) (string, error) { return "", errNoKeychain }

// Set fails.
func (NoKeychain) Set(context.Context, string, string) error { return errNoKeychain }

// Delete fails.
func (NoKeychain) Delete(context.Context, string) error { return errNoKeychain }

// openKeychain reads all keys that are in the keychain, not only the one that will
// be used: the redactor must know every one. What cannot be read is a warning.
func (s *Store) openKeychain(k Keychain) {
	var names []string
	for name, stored := range s.credentials {
		if stored.InKeychain {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	if k == nil {
		k = NoKeychain{}
	}
	slices.Sort(names)
	keys := make([]string, len(names))
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { keys[i], errs[i] = k.Get(context.Background(), name) })
	}
	wg.Wait()
	s.keychain = map[string]string{}
	for i, name := range names {
		if errs[i] == nil {
			s.keychain[name] = keys[i]
			continue
		}
		s.warnings = append(s.warnings, fmt.Sprintf("%s is stored in %s, and cannot be read: %v; set the variable, or store the key again with `garuda setup`",
			name, k.Title(), errs[i]))
	}
}

// StoreKey stores a key under a variable's name: in the keychain, with a word in
// the credentials file that it is there, or in that file alone when k is nil.
// before is the keychain that may hold an older one of this home; that one is
// removed, or stays unused where the keychain cannot be reached. When StoreKey
// fails, what was stored before still is.
func StoreKey(ctx context.Context, home string, k, before Keychain, name, key string) error {
	undo := func() error { return nil }
	err := ChangeCredentials(home, func(keys map[string]Stored) error {
		if k == nil {
			if keys[name].InKeychain && before != nil {
				_ = before.Delete(ctx, name)
			}
			keys[name] = Stored{Key: key}
			return nil
		}
		old, oldErr := k.Get(ctx, name)
		undo = func() error {
			if oldErr == nil {
				return k.Set(ctx, name, old)
			}
			return k.Delete(ctx, name)
		}
		if err := k.Set(ctx, name, key); err != nil {
			return fmt.Errorf("store %s in %s: %w", name, k.Title(), err)
		}
		got, err := k.Get(ctx, name)
		if err == nil && got != key {
			err = errors.New("it gives back something else than it was given")
		}
		if err != nil {
			return fmt.Errorf("store %s in %s: %w", name, k.Title(), err)
		}
		keys[name] = Stored{InKeychain: true}
		return nil
	})
	if err != nil {
		return errors.Join(err, undo())
	}
	return nil
}

// ForgetKey removes a key from both places. k is where keys of this home may be;
// it is not touched for a key that is in the file alone.
func ForgetKey(ctx context.Context, home string, k Keychain, name string) error {
	return ChangeCredentials(home, func(keys map[string]Stored) error {
		if keys[name].InKeychain {
			if err := k.Delete(ctx, name); err != nil {
				return fmt.Errorf("remove %s from %s: %w", name, k.Title(), err)
			}
		}
		delete(keys, name)
		return nil
	})
}
