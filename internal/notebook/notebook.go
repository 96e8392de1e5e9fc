// Package notebook reads Jupyter notebooks (the JSON format nbformat 4) and
// changes single cells of them, leaving every other byte of the text as it was.
//
// It never runs a cell, and reads and writes no file: texts come in and go out.
package notebook

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// Notebook is a notebook's text, taken apart.
type Notebook struct {
	root  hujson.Value
	cells *hujson.Array
	// ids is true for notebooks whose cells have ids (nbformat 4.5 and later).
	ids bool
}

// Cell types.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"
)

// Cell is one cell.
type Cell struct {
	// ID is the cell's id, or "cell-N", counted from 0, where the format has none.
	ID, Type, Source string
	Outputs          []Output
}

// Output is what a code cell printed: text, or data of another media type.
type Output struct {
	// Kind is stream, display, result or error.
	Kind, Text string
	// Image is a picture, with its media type.
	MediaType string
	Image     []byte
}

// ErrNotNotebook says that a text is JSON but no notebook of a known version.
var ErrNotNotebook = errors.New("it is no notebook of format 4 (its JSON has no list of cells)")

// check judges the form before the parser sees it. That calls itself for each
// level, and a stack that is full ends the program; the standard library's scanner
// does not, and stops at 10,000 levels. It knows no comments either.
func check(text string) error {
	err := json.Unmarshal([]byte(text), &json.RawMessage{})
	if at := (*json.SyntaxError)(nil); errors.As(err, &at) {
		line := 1 + strings.Count(text[:min(max(at.Offset-1, 0), int64(len(text)))], "\n")
		return fmt.Errorf("it is not valid JSON: line %d: %w", line, err)
	}
	return err
}

// Parse reads a notebook's text.
func Parse(text string) (*Notebook, error) {
	if err := check(text); err != nil {
		return nil, err
	}
	root, err := hujson.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	}
	n := &Notebook{root: root}
	top, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, ErrNotNotebook
	}
	if n.cells, ok = member(top, "cells").(*hujson.Array); !ok || number(top, "nbformat") != 4 {
		return nil, ErrNotNotebook
	}
	n.ids = number(top, "nbformat_minor") >= 5
	return n, nil
}

// member is the value of an object's field, or nil. Of a field that is there
// twice the last counts, as for Jupyter.
func member(o *hujson.Object, name string) hujson.ValueTrimmed {
	for i := range slices.Backward(o.Members) {
		if str(o.Members[i].Name.Value) == name {
			return o.Members[i].Value.Value
		}
	}
	return nil
}

func number(o *hujson.Object, name string) int {
	l, _ := member(o, name).(hujson.Literal)
	n, err := strconv.ParseFloat(string(l), 64) // some write 4.0
	if err != nil || n != float64(int(n)) {
		return -1
	}
	return int(n)
}

// str is a literal's text; empty for one that is no string.
func str(v hujson.ValueTrimmed) string {
	var s string
	if l, ok := v.(hujson.Literal); ok {
		_ = json.Unmarshal(l, &s) // a number or the like is no text
	}
	return s
}

// text joins what a notebook keeps as a string or as a list of lines.
func text(v hujson.ValueTrimmed) string {
	lines, ok := v.(*hujson.Array)
	if !ok {
		return str(v)
	}
	var b strings.Builder
	for i := range lines.Elements {
		b.WriteString(str(lines.Elements[i].Value))
	}
	return b.String()
}

// Cells lists the cells in order.
func (n *Notebook) Cells() []Cell {
	out := make([]Cell, 0, len(n.cells.Elements))
	for i := range n.cells.Elements {
		c := Cell{ID: "cell-" + strconv.Itoa(i)}
		if o, ok := n.cells.Elements[i].Value.(*hujson.Object); ok {
			if id := str(member(o, "id")); id != "" {
				c.ID = id
			}
			c.Type, c.Source = str(member(o, "cell_type")), text(member(o, "source"))
			if list, ok := member(o, "outputs").(*hujson.Array); ok {
				for j := range list.Elements {
					c.Outputs = append(c.Outputs, outputs(list.Elements[j].Value)...)
				}
			}
		}
		out = append(out, c)
	}
	return out
}

func outputs(v hujson.ValueTrimmed) []Output {
	o, ok := v.(*hujson.Object)
	if !ok {
		return nil
	}
	switch str(member(o, "output_type")) {
	case "stream":
		return []Output{{Kind: "stream", Text: text(member(o, "text"))}}
	case "error":
		said := str(member(o, "ename")) + ": " + str(member(o, "evalue"))
		return []Output{{Kind: "error", Text: said + "\n" + lines(member(o, "traceback"))}}
	case "display_data":
		return data(member(o, "data"), "display")
	case "execute_result":
		return data(member(o, "data"), "result")
	}
	return nil
}

// lines joins a list whose elements have no newlines.
func lines(v hujson.ValueTrimmed) string {
	list, ok := v.(*hujson.Array)
	if !ok {
		return str(v)
	}
	out := make([]string, len(list.Elements))
	for i := range list.Elements {
		out[i] = str(list.Elements[i].Value)
	}
	return strings.Join(out, "\n")
}

// data takes the plainest form of a result: its text, and a picture beside it.
func data(v hujson.ValueTrimmed, kind string) []Output {
	bundle, ok := v.(*hujson.Object)
	if !ok {
		return nil
	}
	var out []Output
	for _, media := range []string{"text/plain", "text/markdown", "text/html", "application/json"} {
		if v := member(bundle, media); v != nil {
			said := text(v)
			if said == "" {
				val := hujson.Value{Value: v}
				said = string(val.Pack())
			}
			out = append(out, Output{Kind: kind, Text: said})
			break
		}
	}
	for _, media := range []string{"image/png", "image/jpeg"} {
		encoded := strings.Join(strings.Fields(text(member(bundle, media))), "")
		if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(raw) > 0 {
			out = append(out, Output{Kind: kind, MediaType: media, Image: raw})
		}
	}
	return out
}

// find is the index of the cell with this id, or of the N-th by cell-N.
func (n *Notebook) find(id string) (int, error) {
	cells := n.Cells()
	found := -1
	for i, c := range cells {
		if c.ID != id {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("cells %d and %d have the same id %q; repair the notebook first", found+1, i+1, id)
		}
		found = i
	}
	if found >= 0 {
		return found, nil
	}
	if rest, ok := strings.CutPrefix(id, "cell-"); ok {
		if i, err := strconv.Atoi(rest); err == nil && i >= 0 && i < len(cells) {
			return i, nil
		}
	}
	ids := make([]string, 0, len(cells))
	for i, c := range cells {
		if i == 20 {
			ids = append(ids, fmt.Sprintf("%d more", len(cells)-i))
			break
		}
		ids = append(ids, c.ID)
	}
	return 0, fmt.Errorf("there is no cell with the id %q; the cells are %s", id, strings.Join(ids, ", "))
}

// String is the notebook's text.
func (n *Notebook) String() string { return string(n.root.Pack()) }

// newID makes an id that no cell has.
func (n *Notebook) newID() string {
	taken := map[string]bool{}
	for _, c := range n.Cells() {
		taken[c.ID] = true
	}
	for {
		var b [4]byte
		_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
		if id := hex.EncodeToString(b[:]); !taken[id] {
			return id
		}
	}
}
