package wire

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"garuda/internal/config"
	"garuda/internal/core"
	"garuda/internal/llm/provider"
	"garuda/internal/secret"
)

// Setup is what `garuda setup` works with: the user's own files, and no project,
// so that it runs in any folder.
type Setup struct {
	// Home is Garuda's folder, ~/.garuda or what GARUDA_HOME says.
	Home  string
	Keys  *secret.Store
	file  *provider.File
	clock core.Clock
}

// OpenSetup takes the keys out of the environment, as Open does. A credentials
// file that cannot be used is a *secret.CredentialsError, and comes with a Setup
// that has the environment's keys.
func OpenSetup() (*Setup, error) {
	p, err := findPlaces()
	if err != nil {
		return nil, err
	}
	if p.garuda == "" {
		return nil, errors.New("there is no home folder to keep keys in; set HOME or GARUDA_HOME")
	}
	s := &Setup{Home: p.garuda, clock: core.SystemClock}
	if s.file, err = provider.ReadFile(s.ModelsFile()); err != nil {
		return nil, &SettingsError{Err: err}
	}
	s.Keys, err = secret.Take(secret.Options{Keys: s.file.KeyNames(), Home: s.Home, Keychain: s.Keychain()})
	return s, err
}

// ModelsFile is the file of providers, models and the default model.
func (s *Setup) ModelsFile() string { return filepath.Join(s.Home, "models.json") }

// CredentialsFile is the file of the stored keys.
func (s *Setup) CredentialsFile() string { return filepath.Join(s.Home, "credentials") }

// Default is the default model of models.json; may be empty.
func (s *Setup) Default() string { return s.file.Default }

// KeyNames are the variables of all providers' keys.
func (s *Setup) KeyNames() []string { return s.file.KeyNames() }

// Providers knows the providers as they would be with these keys.
func (s *Setup) Providers(keys provider.Keys) *provider.Registry {
	return provider.New(provider.Options{File: s.file, Lookup: os.LookupEnv, Keys: keys, Clock: s.clock})
}

// Keychain is the system's, for the keys of this home.
func (s *Setup) Keychain() secret.Keychain { return secret.SystemKeychain(s.Home) }

// StoreKey puts a key into the keychain, or into the credentials file.
func (s *Setup) StoreKey(ctx context.Context, name, key string, inKeychain bool) error {
	var k secret.Keychain
	if inKeychain {
		k = s.Keychain()
	}
	return secret.StoreKey(ctx, s.Home, k, s.Keychain(), name, key)
}

// ForgetKey takes a key out of the credentials file and the keychain.
func (s *Setup) ForgetKey(ctx context.Context, name string) error {
	return secret.ForgetKey(ctx, s.Home, s.Keychain(), name)
}

// SetDefault writes the default model into models.json.
func (s *Setup) SetDefault(spec string) error {
	return config.Edit(s.ModelsFile(), func(before []byte) ([]byte, error) {
		return provider.WithDefault(s.ModelsFile(), before, spec)
	})
}
