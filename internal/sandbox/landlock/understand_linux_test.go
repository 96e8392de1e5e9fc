package landlock

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"garuda/internal/proc"
)

// What a fence says decides whether the command counts as run: only Running, and
// nothing after it, does.
func TestWhatAFenceSays(t *testing.T) {
	runs := "R\x00\x00\x00\x00"
	failed := func(errno byte, step string) string {
		body := string([]byte{errno, 0, 0, 0}) + step + "\x00it broke"
		return "F" + string([]byte{byte(len(body)), 0, 0, 0}) + body
	}
	if err := understand([]byte(runs)); err != nil {
		t.Error(err)
	}
	for heard, want := range map[string]string{
		"": "without a word", runs[:3]: "without a word", runs + "R": "without a word", "X\x00\x00\x00\x00": "means nothing",
		"F\x00\x00\x00\x00": "did not say why", "F\xff\x00\x00\x00x": "without a word",
		failed(byte(syscall.EPERM), "landlock"): "step landlock: it broke", runs + failed(byte(syscall.EACCES), "start"): "step start: it broke",
		failed(0, "policy"): "step policy: it broke",
	} {
		if err := understand([]byte(heard)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", heard, err)
		}
	}
	if err := understand([]byte(failed(byte(syscall.ENOENT), "program"))); !errors.Is(err, proc.ErrNotFound) {
		t.Error(err)
	}
}
