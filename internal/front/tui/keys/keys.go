// Package keys makes events of the bytes that a terminal sends: keys by their
// names, pasted texts whole, the focus, the background's colour.
//
// It reads nothing itself and knows no keymap. What it does not understand it
// leaves out; nothing a terminal sends can make it fail, wait without end, or keep
// more than a bound.
package keys

import (
	"bytes"
	"image/color"
	"slices"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"

	"garuda/internal/core"
)

// Event is one thing a terminal told.
type Event interface{ event() }

// Key is a key press.
type Key struct {
	// Name is the key with what was held: "a", "enter", "ctrl+c", "shift+tab",
	// "alt+left".
	Name string
	// Text is what the key writes; empty for keys that write nothing.
	Text string
}

// Paste is a pasted text, whole.
type Paste struct {
	Text string
	// Cut is true when the text was longer than MaxPaste.
	Cut bool
}

// Focus says whether the window is the one a person types into now.
type Focus struct{ In bool }

// Background is the answer to a question for the background's colour.
type Background struct{ Dark bool }

// Keyboard says that the terminal tells Shift-Enter from Enter (kitty's protocol).
type Keyboard struct{}

func (Key) event()        {}
func (Paste) event()      {}
func (Focus) event()      {}
func (Background) event() {}
func (Keyboard) event()   {}

// MaxPaste is the most of a pasted text that is kept, in bytes.
const MaxPaste = 32 << 20

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	// longestSequence is how much is kept of a sequence that does not end.
	longestSequence = 64 << 10
)

// Decoder takes a terminal's bytes apart. The zero Decoder is ready. It is for one
// goroutine.
type Decoder struct {
	sequences uv.EventDecoder
	held      []byte
	pasting   bool
	paste     []byte
	cut       bool
}

// Feed takes what was read and gives the events that are complete.
func (d *Decoder) Feed(b []byte) []Event {
	d.held = append(d.held, b...)
	return d.decode(false)
}

// Waiting reports whether the beginning of a sequence is held. It may be the whole:
// the Escape key sends only a sequence's first byte. Flush should follow when
// nothing more comes for a moment.
func (d *Decoder) Waiting() bool { return len(d.held) > 0 && !d.pasting }

// Flush takes what is held for what it is.
func (d *Decoder) Flush() []Event {
	if d.pasting {
		return nil
	}
	return d.decode(true)
}

func (d *Decoder) decode(whole bool) []Event {
	var out []Event
	for len(d.held) > 0 {
		if d.pasting {
			if p, ended := d.pasted(); ended {
				out = append(out, p)
				continue
			}
			break
		}
		if rest, ok := bytes.CutPrefix(d.held, []byte(pasteStart)); ok {
			d.held, d.pasting = slices.Clone(rest), true
			continue
		}
		if !whole && incomplete(d.held) {
			break
		}
		n, e := d.sequences.Decode(d.held)
		if n <= 0 {
			n = 1
		}
		out = append(out, events(e)...)
		d.held = slices.Delete(d.held, 0, min(n, len(d.held)))
	}
	return out
}

// pasted takes the text of a paste, to its end if that is there.
func (d *Decoder) pasted() (p Paste, ended bool) {
	text, rest, ended := bytes.Cut(d.held, []byte(pasteEnd))
	if !ended {
		// The end may be cut: its first bytes wait for the rest.
		keep := 0
		for n := min(len(pasteEnd)-1, len(d.held)); n > 0 && keep == 0; n-- {
			if bytes.HasSuffix(d.held, []byte(pasteEnd[:n])) {
				keep = n
			}
		}
		text, rest = d.held[:len(d.held)-keep], d.held[len(d.held)-keep:]
	}
	room := MaxPaste - len(d.paste)
	if len(text) > room {
		text, d.cut = text[:room], true
	}
	d.paste = append(d.paste, text...)
	d.held = slices.Clone(rest)
	if !ended {
		return Paste{}, false
	}
	p = Paste{Text: string(core.WholeAtEnd(d.paste)), Cut: d.cut}
	d.pasting, d.paste, d.cut = false, nil, false
	return p, true
}

// incomplete reports whether the bytes begin with a sequence, or a character, of
// which the end is not there.
func incomplete(b []byte) bool {
	if b[0] != 0x1b {
		return !utf8.FullRune(b)
	}
	if len(b) > longestSequence {
		return false
	}
	if len(b) == 1 {
		return true
	}
	switch b[1] {
	case '[':
		for _, c := range b[2:] {
			if c >= 0x40 && c <= 0x7e {
				return false
			}
			if c < 0x20 || c > 0x7e {
				return false // no sequence at all
			}
		}
		return true
	case 'O':
		return len(b) == 2
	case ']', 'P', '_', '^', 'X':
		return !bytes.Contains(b, []byte("\x1b\\")) && !bytes.ContainsAny(b, "\a\x9c")
	case 0x1b:
		return incomplete(b[1:])
	}
	return !utf8.FullRune(b[1:])
}

func events(e uv.Event) []Event {
	switch e := e.(type) {
	case uv.MultiEvent:
		var out []Event
		for _, part := range e {
			out = append(out, events(part)...)
		}
		return out
	case uv.KeyPressEvent:
		key := Key{Name: uv.Key(e).Keystroke(), Text: e.Text}
		if e.Mod&^(uv.ModShift|uv.ModCapsLock|uv.ModNumLock) != 0 {
			key.Text = "" // what is held with a key makes it a command
		}
		return []Event{key}
	case uv.FocusEvent:
		return []Event{Focus{In: true}}
	case uv.BlurEvent:
		return []Event{Focus{}}
	case uv.BackgroundColorEvent:
		return []Event{Background{Dark: dark(e.Color)}}
	case uv.KeyboardEnhancementsEvent:
		return []Event{Keyboard{}}
	}
	return nil
}

// dark reports whether light text is read better on the colour.
func dark(c color.Color) bool {
	if c == nil {
		return true
	}
	r, g, b, _ := c.RGBA()
	const half = 0xffff / 2
	return (299*r+587*g+114*b)/1000 < half
}
