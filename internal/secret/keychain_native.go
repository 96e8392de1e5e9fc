//go:build darwin || windows

package secret

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/zalando/go-keyring"
)

// nativeLimit is how long the system may take: macOS may ask its user to unlock
// the keychain.
const nativeLimit = 30 * time.Second

// nativeKeychain is that of macOS (through its own program, which takes the key on
// its standard input) or the Credential Manager of Windows.
type nativeKeychain struct{ service string }

// SystemKeychain is the system's keychain for the keys of one Garuda folder.
func SystemKeychain(home string) Keychain { return &nativeKeychain{service: "garuda " + home} }

func (*nativeKeychain) Title() string {
	if runtime.GOOS == "darwin" {
		return "the macOS keychain"
	}
	return "the Windows Credential Manager"
}

// Probe asks for a key that nobody stored: what works says that it is not there.
func (k *nativeKeychain) Probe(ctx context.Context) error {
	_, err := k.Get(ctx, "")
	if errors.Is(err, ErrNotInKeychain) {
		return nil
	}
	return err
}

func (k *nativeKeychain) Get(ctx context.Context, name string) (string, error) {
	return within(ctx, func() (string, error) {
		key, err := keyring.Get(k.service, name)
		return key, translate(err)
	})
}

func (k *nativeKeychain) Set(ctx context.Context, name, key string) error {
	_, err := within(ctx, func() (struct{}, error) { return struct{}{}, keyring.Set(k.service, name, key) })
	return err
}

func (k *nativeKeychain) Delete(ctx context.Context, name string) error {
	_, err := within(ctx, func() (struct{}, error) { return struct{}{}, translate(keyring.Delete(k.service, name)) })
	if errors.Is(err, ErrNotInKeychain) {
		return nil
	}
	return err
}

func translate(err error) error {
	if errors.Is(err, keyring.ErrNotFound) {
		return ErrNotInKeychain
	}
	return err
}

// within runs a call that cannot be called off and waits for it as long as ctx
// lives, at most nativeLimit. The goroutine ends with the call.
func within[T any](ctx context.Context, call func() (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, nativeLimit)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := call()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
