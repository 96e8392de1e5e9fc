package cli

import (
	"fmt"
	"strings"
	"testing"
)

func TestForeignTextTellsATerminalNothing(t *testing.T) {
	const text = "\x1b]0;title\x07 and ü\n"
	for terminal, want := range map[bool]string{true: "␛]0;title[U+0007] and ü\n", false: text} {
		var out strings.Builder
		f := &Factory{Out: &out, OutIsTerminal: terminal}
		if n, err := fmt.Fprint(f.foreign(), text); n != len(text) || err != nil || out.String() != want {
			t.Errorf("terminal %v: %q (%d, %v), want %q", terminal, out.String(), n, err, want)
		}
	}
}
