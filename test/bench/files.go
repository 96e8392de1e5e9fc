package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// large is the size of the file that the bars speak of: 10 MB.
const large = 10_000_000

// files measures reads and edits of a file of 10 MB.
func (b *bench) files(ctx context.Context) ([]row, error) {
	dir := filepath.Join(b.dir, "large")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var text strings.Builder
	lines := 0
	for ; text.Len() < large-80; lines++ {
		fmt.Fprintf(&text, "\tresult = append(result, compute(%d, other[%d]))\n", lines, lines*7)
	}
	file := filepath.Join(dir, "large.go")
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		return nil, err
	}
	read, err := b.readLarge(ctx, dir, lines)
	if err != nil {
		return nil, err
	}
	edits, err := b.editLarge(ctx, dir, file, lines)
	return append(read, edits...), err
}

// readLarge measures reads of the file's middle, each of another window: an
// equal one would be answered with a note.
func (b *bench) readLarge(ctx context.Context, dir string, lines int) ([]row, error) {
	var inputs []json.RawMessage
	for i := range 200 {
		inputs = append(inputs, json.RawMessage(fmt.Sprintf(`{"path":"large.go","offset":%d,"limit":200}`, lines/2+i)))
	}
	s, err := b.fight(ctx, dir, duel{
		Mine:   deed{Tool: "read_file", Inputs: inputs},
		Other:  deed{Argv: []string{"sed", "-n", fmt.Sprintf("%d,%dp", lines/2, lines/2+199), "large.go"}},
		Rounds: b.runs,
	})
	if err != nil {
		return nil, err
	}
	const bar = 5 * time.Millisecond
	return []row{{"read of 10 MB, its middle", ms(s.least()), ms(bar), ms(s.against()) + " by sed (at best)", s.least() <= bar}}, nil
}

// editLarge measures one edit and a hundred in one call. The reference is the
// least that the writing itself takes, most of it the disk's time.
func (b *bench) editLarge(ctx context.Context, dir, file string, lines int) ([]row, error) {
	// There and back again, as the text must be there to be replaced.
	edit := func(from, to string, n int) string {
		return fmt.Sprintf(`{"old_string":"%s(%d, ","new_string":"%s(%d, "}`, from, n, to, n)
	}
	one := func(from, to string) json.RawMessage {
		return json.RawMessage(`{"path":"large.go",` + edit(from, to, lines/2)[1:])
	}
	hundred := func(from, to string) json.RawMessage {
		var list []string
		for i := range 100 {
			list = append(list, edit(from, to, lines/100*i+1))
		}
		return json.RawMessage(`{"path":"large.go","edits":[` + strings.Join(list, ",") + `]}`)
	}
	first := []deed{{Tool: "read_file", Inputs: []json.RawMessage{json.RawMessage(`{"path":"large.go","limit":1}`)}}}
	single := deed{Tool: "edit_file", Inputs: []json.RawMessage{one("compute", "measure"), one("measure", "compute")}}
	many := deed{Tool: "multi_edit", Inputs: []json.RawMessage{hundred("compute", "measure"), hundred("measure", "compute")}}

	alone, err := b.fight(ctx, dir, duel{Before: first, Mine: single, Other: deed{Save: file}, Rounds: max(5, b.runs/2)})
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file + ".saved"); err != nil {
		return nil, err
	}
	together, err := b.fight(ctx, dir, duel{Before: first, Mine: many, Other: single, Rounds: max(5, b.runs/2)})
	if err != nil {
		return nil, err
	}
	const bar = 60 * time.Millisecond
	factor := together.least().Seconds() / together.against().Seconds()
	return []row{
		{"edit of 10 MB", ms(alone.least()), ms(bar), ms(alone.against()) + " to save the same (at best)", alone.least() <= bar},
		{"  100 edits in one call", ms(together.least()), "2 × one edit", ms(together.against()) + fmt.Sprintf(" (%.2f ×, at best)", factor), factor <= 2},
	}, nil
}
