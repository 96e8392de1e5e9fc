package secret

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// memoryKeychain is a keychain for tests; fail is what every call returns.
type memoryKeychain struct {
	mu   sync.Mutex
	keys map[string]string
	fail error
	// forgets makes Set lose what it is given.
	forgets bool
	calls   int
}

func (*memoryKeychain) Title() string { return "the test's keychain" }

func (m *memoryKeychain) Probe(context.Context) error { return m.fail }

func (m *memoryKeychain) Get(_ context.Context, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	key, ok := m.keys[name]
	if m.fail == nil && !ok {
		return "", ErrNotInKeychain
	}
	return key, m.fail
}

func (m *memoryKeychain) Set(_ context.Context, name, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.fail == nil && !m.forgets {
		m.keys[name] = key
	}
	return m.fail
}

func (m *memoryKeychain) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.fail == nil {
		delete(m.keys, name)
	}
	return m.fail
}

func fileOf(t *testing.T, home string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, credentialsName))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestStoreAndForget(t *testing.T) {
	home := filepath.Join(t.TempDir(), ".garuda")
	k := &memoryKeychain{keys: map[string]string{}}
	ctx := t.Context()
	check := func(what string, err error, file, chain map[string]string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		stored, err := readCredentials(filepath.Join(home, credentialsName))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for name, s := range stored {
			got[name] = s.Key
			if s.InKeychain {
				got[name] = "in the keychain"
			}
		}
		if d := cmp.Diff(file, got) + cmp.Diff(chain, k.keys); d != "" {
			t.Errorf("%s:\n%s", what, d)
		}
	}
	none := map[string]string{}
	check("in the keychain", StoreKey(ctx, home, k, k, "A", "key-a"), map[string]string{"A": "in the keychain"}, map[string]string{"A": "key-a"})
	if strings.Contains(fileOf(t, home), "key-a") {
		t.Error("the key is in the file too")
	}
	check("another beside it", StoreKey(ctx, home, nil, k, "B", "key-b"), map[string]string{"A": "in the keychain", "B": "key-b"}, map[string]string{"A": "key-a"})
	check("a newer one", StoreKey(ctx, home, k, k, "A", "key-c"), map[string]string{"A": "in the keychain", "B": "key-b"}, map[string]string{"A": "key-c"})
	check("moved to the file", StoreKey(ctx, home, nil, k, "A", "key-d"), map[string]string{"A": "key-d", "B": "key-b"}, none)
	check("moved to the keychain", StoreKey(ctx, home, k, k, "B", "key-e"), map[string]string{"A": "key-d", "B": "in the keychain"}, map[string]string{"B": "key-e"})
	calls := k.calls
	check("forgotten in the file", ForgetKey(ctx, home, k, "A"), map[string]string{"B": "in the keychain"}, map[string]string{"B": "key-e"})
	if k.calls != calls {
		t.Error("the keychain was touched for a key of the file")
	}
	check("forgotten in the keychain", ForgetKey(ctx, home, k, "B"), none, none)
	if fileOf(t, home) != "" {
		t.Error("the last key is gone, and the file is still there")
	}
}

// What fails leaves things as they were.
func TestStoreFails(t *testing.T) {
	for name, spoil := range map[string]func(*memoryKeychain){
		"the keychain is locked": func(m *memoryKeychain) { m.fail = errors.New("locked") },
		"it loses what it gets":  func(m *memoryKeychain) { m.forgets = true },
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			k := &memoryKeychain{keys: map[string]string{}}
			if err := StoreKey(t.Context(), home, k, k, "A", "old"); err != nil {
				t.Fatal(err)
			}
			before, chain := fileOf(t, home), maps.Clone(k.keys)
			spoil(k)
			err := StoreKey(t.Context(), home, k, k, "A", "newkey")
			if err == nil || strings.Contains(err.Error(), "newkey") || !strings.Contains(err.Error(), "the test's keychain") {
				t.Errorf("error %v", err)
			}
			if k.fail != nil {
				if err := ForgetKey(t.Context(), home, k, "A"); err == nil {
					t.Error("a key that could not be removed was forgotten")
				}
			}
			if d := cmp.Diff(before, fileOf(t, home)) + cmp.Diff(chain, k.keys); d != "" {
				t.Error(d)
			}
		})
	}
}

// At start the keychain is asked for what the file says is there, and for nothing else.
func TestTakeFromKeychain(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "credentials"), `{"GARUDA_T_A": {"keychain": true}, "GARUDA_T_B": "of-the-file-0123", "GARUDA_T_C": {"keychain": true}}`, 0o600)
	k := &memoryKeychain{keys: map[string]string{"GARUDA_T_A": "of-the-keychain-0123", "GARUDA_T_D": "not-asked-for"}}
	s := &Store{env: map[string]string{"GARUDA_T_C": "of-the-environment-0123"}}
	var err error
	if s.credentials, err = readCredentials(filepath.Join(home, "credentials")); err != nil {
		t.Fatal(err)
	}
	s.openKeychain(k)
	for name, want := range map[string]string{
		"GARUDA_T_A": "of-the-keychain-0123 keychain", "GARUDA_T_B": "of-the-file-0123 credentials",
		"GARUDA_T_C": "of-the-environment-0123 GARUDA_T_C", "GARUDA_T_D": " ",
	} {
		if v, source, _ := s.Key(name); v+" "+source != want {
			t.Errorf("%s is %q from %q, want %s", name, v, source, want)
		}
	}
	if got := strings.Join(s.Values(), " "); !strings.Contains(got, "of-the-keychain-0123") || !strings.Contains(got, "of-the-file-0123") {
		t.Errorf("the redactor is told %s", got)
	}
	if w := strings.Join(s.Warnings(), "\n"); len(s.Warnings()) != 1 || !strings.Contains(w, "GARUDA_T_C is stored in the test's keychain, and cannot be read: it is not there") {
		t.Errorf("warnings %q", w)
	}
	want := []Entry{
		{Name: "GARUDA_T_A", Source: "keychain", Stored: true, InKeychain: true, Hint: "…0123"},
		{Name: "GARUDA_T_B", Source: "credentials", Stored: true, Hint: "…0123"},
		{Name: "GARUDA_T_C", Source: "GARUDA_T_C", Stored: true, InKeychain: true, Hint: "…0123"},
	}
	if d := cmp.Diff(want, s.Entries([]string{"GARUDA_T_D"})); d != "" {
		t.Error(d)
	}

	unused := &memoryKeychain{}
	(&Store{credentials: map[string]Stored{"A": {Key: "k"}}}).openKeychain(unused)
	if unused.calls != 0 {
		t.Error("the keychain was asked though no key is there")
	}
	without := &Store{credentials: map[string]Stored{"A": {InKeychain: true}}}
	without.openKeychain(nil)
	if len(without.Warnings()) != 1 {
		t.Errorf("warnings %q", without.Warnings())
	}
}

func TestHint(t *testing.T) {
	for _, tt := range [][2]string{
		{"", "…"},
		{"short", "…"},
		{"0123456789abcde", "…"},
		{"0123456789abcdef", "…cdef"},
		{strings.Repeat("x", 27) + "wxyz", "…wxyz"},
		{"sk-ant-" + strings.Repeat("x", 25), "sk-ant-…xxxx"},
		{" 0123456789abcdef\n", "…cdef"},
		{"0123456789abcdü€", "…€"},
	} {
		if got := Hint(tt[0]); got != tt[1] {
			t.Errorf("Hint(%q) = %q, want %q", tt[0], got, tt[1])
		}
	}
}
