package keys

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func decode(pieces ...string) []Event {
	var d Decoder
	var out []Event
	for _, p := range pieces {
		out = append(out, d.Feed([]byte(p))...)
	}
	return append(out, d.Flush()...)
}

func TestEvents(t *testing.T) {
	for _, tt := range []struct {
		bytes string
		want  []Event
	}{
		{"a", []Event{Key{"a", "a"}}},
		{"A", []Event{Key{"shift+a", "A"}}},
		{"é漢", []Event{Key{"é", "é"}, Key{"漢", "漢"}}},
		{" ", []Event{Key{"space", " "}}},
		{"\r", []Event{Key{Name: "enter"}}},
		{"\n", []Event{Key{Name: "ctrl+j"}}},
		{"\t", []Event{Key{Name: "tab"}}},
		{"\x1b[Z", []Event{Key{Name: "shift+tab"}}},
		{"\x7f", []Event{Key{Name: "backspace"}}},
		{"\x03\x04\x1a", []Event{Key{Name: "ctrl+c"}, Key{Name: "ctrl+d"}, Key{Name: "ctrl+z"}}},
		{"\x1b", []Event{Key{Name: "esc"}}},
		{"\x1b[A\x1bOB\x1b[1;5C\x1b[1;3D", []Event{Key{Name: "up"}, Key{Name: "down"}, Key{Name: "ctrl+right"}, Key{Name: "alt+left"}}},
		{"\x1bb\x1b\r", []Event{Key{Name: "alt+b"}, Key{Name: "alt+enter"}}},
		{"\x1b[13;2u\x1b[13;5u", []Event{Key{Name: "shift+enter"}, Key{Name: "ctrl+enter"}}},
		{"\x1b[3~\x1b[H\x1b[F", []Event{Key{Name: "delete"}, Key{Name: "home"}, Key{Name: "end"}}},
		{"\x1b[I\x1b[O", []Event{Focus{In: true}, Focus{}}},
		{"\x1b]11;rgb:ffff/ffff/ffff\x1b\\", []Event{Background{Dark: false}}},
		{"\x1b]11;rgb:1e1e/1e1e/2e2e\a", []Event{Background{Dark: true}}},
		{"\x1b[?1u", []Event{Keyboard{}}},
		{"\x1b[200~a\rb\x1b[A\x03\x1b[201~c", []Event{Paste{Text: "a\rb\x1b[A\x03"}, Key{"c", "c"}}},
		{"\x1b[200~\x1b[201~", []Event{Paste{}}},
	} {
		if diff := cmp.Diff(tt.want, decode(tt.bytes)); diff != "" {
			t.Errorf("%q: %s", tt.bytes, diff)
		}
	}
}

// However the bytes are cut into pieces, the events are the same.
func TestPieces(t *testing.T) {
	part := rapid.OneOf(rapid.SampledFrom([]string{
		"a", "é", "👍", "\r", "\x1b[A", "\x1bOB", "\x1b[1;5C", "\x1b[13;2u", "\x1b]11;rgb:0/0/0\x1b\\", "\x1b[200~pasted\x1b[20\n\x1b[201~", "\x1bx", "\x1b[I",
	}))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
		want := decode(text)
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		if diff := cmp.Diff(want, decode(pieces...)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A paste without an end is never taken for keys, whatever it holds.
func TestOpenPaste(t *testing.T) {
	var d Decoder
	if got := d.Feed([]byte("\x1b[200~rm -rf x\r")); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := d.Flush(); len(got) != 0 {
		t.Errorf("flushed %v", got)
	}
	got := d.Feed([]byte("\x1b[201~"))
	if diff := cmp.Diff([]Event{Paste{Text: "rm -rf x\r"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLongPaste(t *testing.T) {
	var d Decoder
	d.Feed([]byte("\x1b[200~"))
	piece := []byte(strings.Repeat("é", 1<<19))
	for range MaxPaste>>20 + 2 {
		d.Feed(piece)
	}
	got := d.Feed([]byte(pasteEnd))
	p, ok := got[0].(Paste)
	if !ok || !p.Cut || len(p.Text) != MaxPaste {
		t.Errorf("%T, cut %v, %d bytes", got[0], p.Cut, len(p.Text))
	}
}

func FuzzFeed(f *testing.F) {
	f.Add([]byte("\x1b[200~x\x1b[201~\x1b]0;a\x07\x1b[<0;1;1M\xff\x1bP+r\x1b\\"), 3)
	f.Add([]byte("\x1b\x1b\x1b[\x1b[1;\x1bO"), 1)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		var d Decoder
		piece = max(piece%16, 1)
		for len(b) > 0 {
			n := min(piece, len(b))
			d.Feed(b[:n])
			b = b[n:]
		}
		d.Flush()
		if d.Waiting() {
			t.Fatalf("%q waits after a flush", d.held)
		}
	})
}
