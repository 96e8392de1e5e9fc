package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestIgnoresCase(t *testing.T) {
	folding := strings.EqualFold
	exact := func(a, b string) bool { return a == b }
	for _, c := range []struct {
		names         []string
		same          func(a, b string) bool
		told, ignores bool
	}{
		{nil, folding, false, false},
		{[]string{"123", "_"}, folding, false, false},
		{[]string{"ä"}, folding, false, false},
		{[]string{"1", "a"}, folding, true, true},
		{[]string{".Git"}, folding, true, true},
		{[]string{"1", "a"}, exact, true, false},
	} {
		if told, ignores := ignoresCase("/d", c.names, c.same); told != c.told || ignores != c.ignores {
			t.Errorf("%q: told %v, ignores %v", c.names, told, ignores)
		}
	}
}

// TestIgnoresCaseHere compares with what this folder does with a second name.
func TestIgnoresCaseHere(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "Name"), "")
	_, err := os.Lstat(filepath.Join(root, "nAME"))
	want := err == nil || runtime.GOOS == "darwin" || runtime.GOOS == "windows"
	if got := openTest(t, root, Options{}).IgnoresCase(); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
