package modelserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// obj is a JSON object.
type obj = map[string]any

// event is one server-sent event; name may be empty.
type event struct {
	name string
	data []byte
}

// events collects the events of an answer.
type events struct {
	list []event
	err  error
}

func (e *events) add(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil && e.err == nil {
		e.err = err
	}
	e.list = append(e.list, event{name, data})
}

// encode writes an event as the wire wants it.
func (w Wire) encode(e event) []byte {
	nl := map[string]string{"": "\n", "lf": "\n", "crlf": "\r\n", "cr": "\r"}[w.Newline]
	var b strings.Builder
	if w.Comments {
		b.WriteString(": keep-alive" + nl)
	}
	if e.name != "" {
		b.WriteString("event: " + e.name + nl)
	}
	data := e.data
	if w.Multiline {
		var pretty bytes.Buffer
		if json.Indent(&pretty, data, "", " ") == nil {
			data = pretty.Bytes()
		}
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		b.WriteString("data: ")
		b.Write(line)
		b.WriteString(nl)
	}
	b.WriteString(nl)
	return []byte(b.String())
}

// write sends bytes in chunks, each at once.
func (w Wire) write(to io.Writer, flush func(), data []byte) error {
	for len(data) > 0 {
		n := len(data)
		if w.Chunk > 0 {
			n = min(n, w.Chunk)
		}
		if _, err := to.Write(data[:n]); err != nil {
			return err
		}
		flush()
		data = data[n:]
	}
	return nil
}

// fragments cuts a text into deltas, each the JSON of a string.
func (w Wire) fragments(text string) []json.RawMessage {
	size := w.Fragment
	if size == 0 {
		size = 24
	}
	var out []json.RawMessage
	switch w.Unit {
	case "byte":
		for b := []byte(text); len(b) > 0; b = b[min(size, len(b)):] {
			out = append(out, quoteBytes(b[:min(size, len(b))]))
		}
	case "utf16":
		for u := utf16.Encode([]rune(text)); len(u) > 0; u = u[min(size, len(u)):] {
			out = append(out, quoteUnits(u[:min(size, len(u))]))
		}
	default:
		for text != "" {
			n := 0
			for range size {
				_, width := utf8.DecodeRuneInString(text[n:])
				n += width
			}
			out = append(out, quoteBytes([]byte(text[:n])))
			text = text[n:]
		}
	}
	return out
}

// quoteBytes makes a JSON string of bytes that need not be whole runes.
func quoteBytes(s []byte) json.RawMessage {
	out := []byte{'"'}
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// quoteUnits makes a JSON string of UTF-16 units, all but plain ASCII escaped.
func quoteUnits(units []uint16) json.RawMessage {
	out := []byte{'"'}
	for _, u := range units {
		if u >= ' ' && u < 0x7f && u != '"' && u != '\\' {
			out = append(out, byte(u))
			continue
		}
		out = fmt.Appendf(out, `\u%04x`, u)
	}
	return append(out, '"')
}
