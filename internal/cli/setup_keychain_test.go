//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/testkit/secretservice"
)

func TestSetupWithKeychain(t *testing.T) {
	server := keyServer(t)
	const inKeychain = `{
  "MOCK_KEY": {
    "keychain": true
  }
}
`
	inFile := "{\n  \"MOCK_KEY\": \"" + goodKey + "\"\n}\n"
	for _, tc := range []struct {
		name         string
		mode         secretservice.Mode
		args         []string
		before       string // the credentials file
		dialog       []string
		code         int
		file         string
		keychain     map[string]string
		keychainHeld map[string]string
	}{
		{name: "a new key", mode: secretservice.Works, dialog: []string{
			"Which one?", "mock\r", "Key of mock", goodKey + "\r", "Store it in the desktop's keychain", "\r", "by default?", "\r", "Stored MOCK_KEY in the desktop's keychain", "",
		}, file: inKeychain, keychain: map[string]string{"MOCK_KEY": goodKey}},
		{name: "the file all the same", mode: secretservice.Works, dialog: []string{
			"Which one?", "mock\r", "Key of mock", goodKey + "\r", "f for the file", "f\r", "by default?", "\r", "credentials.", "",
		}, file: inFile, keychain: map[string]string{}},
		{name: "the file by flag", mode: secretservice.Works, args: []string{"--file"}, dialog: []string{
			"Which one?", "mock\r", "Key of mock", goodKey + "\r", "by default?", "\r", "credentials.", "",
		}, file: inFile, keychain: map[string]string{}},
		{name: "a locked keychain", mode: secretservice.Locked, dialog: []string{
			"Which one?", "mock\r", "Key of mock", goodKey + "\r", "cannot be used: it is locked", "", "by default?", "\r", "credentials.", "",
		}, file: inFile, keychain: map[string]string{}},
		{name: "a bus that says nothing", mode: secretservice.Mute, dialog: []string{
			"Which one?", "mock\r", "Key of mock", goodKey + "\r", "did not answer within 2s", "", "by default?", "\r", "credentials.", "",
		}, file: inFile, keychain: map[string]string{}},
		{name: "Ctrl-C after the place", mode: secretservice.Works, code: exitSignal, dialog: []string{
			"Which one?", "mock\r", "Key of mock", goodKey + "\r", "Store it in", "\r", "by default?", ctrlC, "nothing was changed", "",
		}, keychain: map[string]string{}},
		{name: "the stored one is kept", mode: secretservice.Works, before: inKeychain, keychainHeld: map[string]string{"MOCK_KEY": goodKey}, dialog: []string{
			"key stored (MOCK_KEY)", "", "Which one?", "mock\r", "keep the stored one", "\r", "by default?", "\r", "Ready", "",
		}, file: inKeychain, keychain: map[string]string{"MOCK_KEY": goodKey}},
		{name: "moved to the file", mode: secretservice.Works, before: inKeychain, keychainHeld: map[string]string{"MOCK_KEY": "old"}, dialog: []string{
			"Which one?", "mock\r", "keep the stored one", goodKey + "\r", "f for the file", "f\r", "by default?", "\r", "Ready", "",
		}, file: inFile, keychain: map[string]string{}},
		{name: "forgotten", mode: secretservice.Works, args: []string{"--forget", "MOCK_KEY"}, before: inKeychain, keychainHeld: map[string]string{"MOCK_KEY": goodKey}, dialog: []string{
			"Remove the stored key MOCK_KEY?", "y\r", "MOCK_KEY is no longer stored", "",
		}, keychain: map[string]string{}},
		{name: "not forgotten", mode: secretservice.Works, args: []string{"--forget", "MOCK_KEY"}, before: inKeychain, keychainHeld: map[string]string{"MOCK_KEY": goodKey}, code: 1, dialog: []string{
			"Remove the stored key MOCK_KEY?", "\r", "nothing was changed", "",
		}, file: inKeychain, keychain: map[string]string{"MOCK_KEY": goodKey}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bus, err := secretservice.Start(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer bus.Close()
			for name, key := range tc.keychainHeld {
				bus.Put(name, key)
			}
			bus.SetMode(tc.mode)
			home := newHome(t, server.URL)
			path := filepath.Join(home, "credentials")
			if tc.before != "" {
				if err := os.WriteFile(path, []byte(tc.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			x := startSetup(t, home, []string{"DBUS_SESSION_BUS_ADDRESS=" + bus.Address}, tc.args...)
			x.dialog(tc.dialog...)
			x.ends(tc.code)
			file, _ := os.ReadFile(path)
			if d := cmp.Diff(tc.file, string(file)) + cmp.Diff(tc.keychain, bus.Keys()); d != "" {
				t.Error(d)
			}
		})
	}
}

// --show tells where each key is, and of one that the keychain does not give that
// it cannot be read.
func TestShowWithKeychain(t *testing.T) {
	bus, err := secretservice.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	bus.Put("MOCK_KEY", goodKey)
	home := newHome(t, "http://127.0.0.1:9")
	if err := os.WriteFile(filepath.Join(home, "credentials"), []byte(`{"MOCK_KEY": {"keychain": true}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[secretservice.Mode]string{
		secretservice.Works:  "MOCK_KEY  keychain  …wxyz\n",
		secretservice.Locked: "MOCK_KEY  keychain (cannot be read)  \n",
	} {
		bus.SetMode(mode)
		out, err := command(t, home, []string{"DBUS_SESSION_BUS_ADDRESS=" + bus.Address}, "setup", "--show").CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || strings.Contains(string(out), goodKey[:8]) {
			t.Errorf("%s: %v\n%s", mode, err, out)
		}
	}
}
