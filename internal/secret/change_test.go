package secret

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func put(name, key string) func(map[string]Stored) error {
	return func(keys map[string]Stored) error {
		keys[name] = Stored{Key: key}
		return nil
	}
}

func drop(name string) func(map[string]Stored) error {
	return func(keys map[string]Stored) error {
		delete(keys, name)
		return nil
	}
}

// inFile are keys as the file has them; nil for no file.
func inFile(keys map[string]string) map[string]Stored {
	if keys == nil {
		return nil
	}
	out := map[string]Stored{}
	for name, key := range keys {
		out[name] = Stored{Key: key}
	}
	return out
}

func TestChangeCredentials(t *testing.T) {
	home := filepath.Join(t.TempDir(), "new", ".garuda")
	path := filepath.Join(home, credentialsName)
	for _, step := range []struct {
		change func(map[string]Stored) error
		want   map[string]string
	}{
		{put("A", "key-a"), map[string]string{"A": "key-a"}},
		{put("B", "key-b \"quoted\" ü"), map[string]string{"A": "key-a", "B": "key-b \"quoted\" ü"}},
		{put("A", "key-c"), map[string]string{"A": "key-c", "B": "key-b \"quoted\" ü"}},
		{drop("A"), map[string]string{"B": "key-b \"quoted\" ü"}},
		{drop("B"), nil},
		{drop("B"), nil},
	} {
		if err := ChangeCredentials(home, step.change); err != nil {
			t.Fatal(err)
		}
		got, err := readCredentials(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(inFile(step.want), got); d != "" {
			t.Error(d)
		}
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the last key is gone, and the file is still there (%v)", err)
	}
	checkNoLeftovers(t, home)
}

// checkNoLeftovers wants nothing beside the file and its lock.
func checkNoLeftovers(t *testing.T, home string) {
	t.Helper()
	entries, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != credentialsName && e.Name() != credentialsName+".lock" {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func TestCredentialsTooLarge(t *testing.T) {
	home := t.TempDir()
	if err := ChangeCredentials(home, put("A", "key")); err != nil {
		t.Fatal(err)
	}
	err := ChangeCredentials(home, put("B", strings.Repeat("k", MaxCredentials)))
	if err == nil || !strings.Contains(err.Error(), "larger than 65536 bytes") {
		t.Errorf("error is %v", err)
	}
	got, err := readCredentials(filepath.Join(home, credentialsName))
	if d := cmp.Diff(inFile(map[string]string{"A": "key"}), got); err != nil || d != "" {
		t.Error(err, d)
	}
	checkNoLeftovers(t, home)
}

// TestUnusableIsNotReplaced: what Take would refuse is not written over, and the
// error says why without showing what is in it.
func TestUnusableIsNotReplaced(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, credentialsName)
	write(t, path, leak, 0o600)
	err := ChangeCredentials(home, put("A", "key"))
	if !errors.Is(err, ErrCredentials) || strings.Contains(err.Error(), leak) {
		t.Errorf("error is %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != leak {
		t.Errorf("the file is now %q, %v", text, err)
	}
	aside, err := SetCredentialsAside(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := ChangeCredentials(home, put("A", "key")); err != nil {
		t.Errorf("after it was set aside: %v", err)
	}
	if text, err := os.ReadFile(aside); err != nil || string(text) != leak {
		t.Errorf("set aside is %q, %v", text, err)
	}
}

func TestLinkIsNotFollowed(t *testing.T) {
	home, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	write(t, other, "{}", 0o600)
	path := filepath.Join(home, credentialsName)
	if err := os.Symlink(other, path); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := ChangeCredentials(home, put("A", leak)); !errors.Is(err, ErrCredentials) {
		t.Errorf("error is %v", err)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "{}" {
		t.Errorf("the link's target is now %q, %v", text, err)
	}
	if _, err := SetCredentialsAside(home); err != nil {
		t.Fatal(err)
	}
	if err := ChangeCredentials(home, put("A", "key")); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "{}" {
		t.Errorf("the link's target is now %q, %v", text, err)
	}
}

func TestLockIsNoLink(t *testing.T) {
	if noFollow == 0 {
		t.Skip("links are followed here when a file is opened")
	}
	home, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if err := os.Symlink(other, filepath.Join(home, credentialsName+".lock")); err != nil {
		t.Fatal(err)
	}
	if err := ChangeCredentials(home, put("A", leak)); err == nil {
		t.Error("a link in the lock's place was followed")
	}
	if _, err := os.Lstat(other); err == nil {
		t.Error("the link's target was made")
	}
}

func TestChangesTogether(t *testing.T) {
	home := t.TempDir()
	names := strings.Split("ABCDEFGHIJ", "")
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() {
			if err := ChangeCredentials(home, put(name, "key")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := readCredentials(filepath.Join(home, credentialsName))
	if err != nil || len(got) != len(names) {
		t.Errorf("%d of %d keys are there (%v): %v", len(got), len(names), err, got)
	}
}

func TestNoHome(t *testing.T) {
	for _, home := range []string{"", "relative"} {
		if err := ChangeCredentials(home, put("A", "key")); err == nil {
			t.Errorf("home %q: no error", home)
		}
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("mode bits mean nothing on Windows")
	}
	home := filepath.Join(t.TempDir(), ".garuda")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ChangeCredentials(home, put("A", "key")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{home: 0o700, filepath.Join(home, credentialsName): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestEntries(t *testing.T) {
	s := NewStore(
		map[string]string{"A": "sk-0123456789abcdef", "OTHER_TOKEN": "not-a-provider-key"},
		map[string]string{"A": "stored-0123456789", "B": "short", "C": "sk-another-long-key-wxyz\n", "EMPTY": ""},
	)
	want := []Entry{
		{Name: "A", Source: "A", Stored: true, Hint: "…cdef"},
		{Name: "B", Source: SourceCredentials, Stored: true, Hint: "…"},
		{Name: "C", Source: SourceCredentials, Stored: true, Hint: "…wxyz"},
		{Name: "EMPTY", Source: SourceCredentials, Stored: true, Hint: "…"},
	}
	if d := cmp.Diff(want, s.Entries([]string{"A", "NOT_SET"})); d != "" {
		t.Error(d)
	}
}

// TestHint: at most four characters, whatever the key is.
