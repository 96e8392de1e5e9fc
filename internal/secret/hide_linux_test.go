package secret

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestEachValue(t *testing.T) {
	block := []byte("A=1\x00KEY=secret\x00=odd\x00KEY\x00\x00KEY=again\x00KEYS=no\x00E=\x00KEY=cut")
	secrets := map[string]string{"KEY": "", "E": ""}
	err := eachValue(block, secrets, func(from, to int) error {
		clear(block[from:to])
		return nil
	})
	want := "A=1\x00KEY=\x00\x00\x00\x00\x00\x00\x00=odd\x00KEY\x00\x00KEY=\x00\x00\x00\x00\x00\x00KEYS=no\x00E=\x00KEY=\x00\x00\x00"
	if err != nil || string(block) != want {
		t.Errorf("got %q, %v\nwant %q", block, err, want)
	}
}

func TestEnvironRange(t *testing.T) {
	line := func(name string, fields ...string) []byte {
		all := make([]string, 50)
		for i := range all {
			all[i] = "0"
		}
		copy(all[47:], fields)
		return []byte(fmt.Sprintf("12 (%s) %s\n", name, strings.Join(all, " ")))
	}
	for name, tt := range map[string]struct {
		stat []byte
		ok   bool
	}{
		"plain":       {line("go", "4096", "8192"), true},
		"odd name":    {line("a ) 1 (b)", "4096", "8192"), true},
		"empty block": {line("go", "4096", "4096"), true},
		"zero":        {line("go", "0", "0"), false},
		"backwards":   {line("go", "8192", "4096"), false},
		"huge":        {line("go", "4096", "99999999999"), false},
		"no number":   {line("go", "x", "8192"), false},
		"old kernel":  {[]byte("12 (go) R 1 2"), false},
		"nothing":     {nil, false},
	} {
		start, end, err := environRange(tt.stat)
		if (err == nil) != tt.ok {
			t.Errorf("%s: %d, %d, %v", name, start, end, err)
		}
	}
	own, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skip(err)
	}
	if _, _, err := environRange(own); err != nil {
		t.Error(err)
	}
}

func FuzzEnvironRange(f *testing.F) {
	f.Add([]byte("1 (a) R 1"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, stat []byte) {
		start, end, err := environRange(stat)
		if err == nil && (start <= 0 || end < start || end-start > maxEnviron) {
			t.Errorf("accepted %d to %d", start, end)
		}
	})
}
