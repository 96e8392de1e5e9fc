package notebook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "calc",
   "metadata": {"tags":  ["odd   spacing"]},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["42\n"]},
    {"data": {"image/png": "iVBORw0K\nGgo=", "text/plain": ["<Figure>"]}, "metadata": {}, "output_type": "display_data"},
    {"ename": "ValueError", "evalue": "no", "output_type": "error", "traceback": ["a", "b"]}
   ],
   "source": [
    "print(6 * 7)"
   ]
  }
 ],
 "metadata": {"kernelspec": {"name": "python3"}, "x": 1.50},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func parse(t testing.TB, text string) *Notebook {
	t.Helper()
	n, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCells(t *testing.T) {
	want := []Cell{
		{ID: "intro", Type: Markdown, Source: "# Title\ntext"},
		{ID: "calc", Type: Code, Source: "print(6 * 7)", Outputs: []Output{
			{Kind: "stream", Text: "42\n"},
			{Kind: "display", Text: "<Figure>"},
			{Kind: "display", MediaType: "image/png", Image: []byte("\x89PNG\r\n\x1a\n")},
			{Kind: "error", Text: "ValueError: no\na\nb"},
		}},
	}
	n := parse(t, sample)
	if d := cmp.Diff(want, n.Cells()); d != "" {
		t.Error(d)
	}
	if n.String() != sample {
		t.Error("the text did not stay as it was")
	}
}

func TestEdit(t *testing.T) {
	cut := func(from, to, with string) string {
		i := strings.Index(sample, from)
		j := i + strings.Index(sample[i:], to) + len(to)
		return sample[:i] + with + sample[j:]
	}
	for _, tt := range []struct {
		name string
		edit func(n *Notebook) error
		want string
	}{
		{"replace markdown", func(n *Notebook) error { return n.Replace("intro", "", "one <b>\ntwo\n") },
			cut("\"source\": [\n    \"# Title", "]", "\"source\": [\n    \"one <b>\\n\",\n    \"two\\n\"\n   ]")},
		{"delete the last", func(n *Notebook) error { return n.Delete("calc") }, cut(",\n  {\n   \"cell_type\": \"code\"", "(6 * 7)\"\n   ]\n  }", "")},
		{"delete the first", func(n *Notebook) error { return n.Delete("cell-0") }, cut("\n  {\n   \"cell_type\": \"markdown\"", "\n  },", "")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := parse(t, sample)
			if err := tt.edit(n); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, n.String()); d != "" {
				t.Error(d)
			}
			if !json.Valid([]byte(n.String())) {
				t.Error("what came out is no JSON")
			}
		})
	}
}

func TestReplaceCode(t *testing.T) {
	n := parse(t, sample)
	if err := n.Replace("calc", "", "x = 1"); err != nil {
		t.Fatal(err)
	}
	got := n.Cells()[1]
	if d := cmp.Diff(Cell{ID: "calc", Type: Code, Source: "x = 1"}, got); d != "" {
		t.Error(d)
	}
	if s := n.String(); !strings.Contains(s, `"execution_count": null`) || !strings.Contains(s, `["odd   spacing"]`) || !strings.Contains(s, `"x": 1.50`) {
		t.Errorf("%s", s)
	}
	if err := n.Replace("calc", Markdown, "text"); err != nil {
		t.Fatal(err)
	}
	if s := n.String(); strings.Contains(s, "outputs") || strings.Contains(s, "execution_count") || !json.Valid([]byte(s)) {
		t.Errorf("a markdown cell keeps what only code has: %s", s)
	}
}

func TestInsert(t *testing.T) {
	for _, after := range []string{"", "intro", "calc"} {
		n := parse(t, sample)
		id, err := n.Insert(after, Code, "a\nb")
		if err != nil {
			t.Fatal(err)
		}
		text := n.String()
		again := parse(t, text)
		want := map[string]int{"": 0, "intro": 1, "calc": 2}[after]
		if d := cmp.Diff(Cell{ID: id, Type: Code, Source: "a\nb"}, again.Cells()[want]); d != "" {
			t.Errorf("after %q: %s", after, d)
		}
		if !strings.Contains(text, "\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \""+id+"\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  }") {
			t.Errorf("the new cell is not laid out like the others: %s", text)
		}
		if err := again.Delete(id); err != nil || again.String() != sample {
			t.Errorf("taking it out again does not give the text before:\n%s", cmp.Diff(sample, again.String()))
		}
	}
}

func TestOldAndSmall(t *testing.T) {
	n := parse(t, `{"nbformat":4,"nbformat_minor":2,"cells":[{"cell_type":"code","source":"x","metadata":{},"outputs":[]}]}`)
	if id, err := n.Insert("cell-0", Markdown, "y"); err != nil || id != "cell-1" {
		t.Errorf("%q, %v", id, err)
	}
	want := `{"nbformat":4,"nbformat_minor":2,"cells":[{"cell_type":"code","source":"x","metadata":{},"outputs":[]},{"cell_type":"markdown","metadata":{},"source":["y"]}]}`
	if n.String() != want {
		t.Error(n.String())
	}
	if err := n.Replace("cell-0", "", "z"); err != nil || !strings.Contains(n.String(), `"source":"z"`) {
		t.Errorf("a source that is a string does not stay one: %s, %v", n.String(), err)
	}
	empty := parse(t, `{"cells":[],"nbformat":4,"nbformat_minor":5}`)
	if _, err := empty.Insert("", Code, "x"); err != nil || !json.Valid([]byte(empty.String())) {
		t.Errorf("%s, %v", empty.String(), err)
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "not valid JSON",
		"[]":                             "no notebook",
		`{"cells":[],"nbformat":3}`:      "no notebook",
		`{"cells":{},"nbformat":4}`:      "no notebook",
		"{\"cells\":[],\"nbformat\":4,}": "not valid JSON",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	n := parse(t, sample)
	for want, err := range map[string]error{
		`no cell with the id "x"; the cells are intro, calc`: n.Replace("x", "", "y"),
		`no cell_type "latex"`:                               n.Replace("intro", "latex", "y"),
		`no cell with the id "cell-2"`:                       n.Delete("cell-2"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if n.String() != sample {
		t.Error("a refused edit changed something")
	}
}

func FuzzNotebook(f *testing.F) {
	f.Add(sample, "calc", "x\ny")
	f.Add(`{"cells":[1,{"source":[1]}],"nbformat":4,"nbformat_minor":5}`, "cell-1", "")
	f.Fuzz(func(t *testing.T, text, id, source string) {
		n, err := Parse(text)
		if err != nil {
			return
		}
		n.Cells()
		_ = n.Replace(id, Code, source)
		_, _ = n.Insert(id, Markdown, source)
		_ = n.Delete(id)
		if !json.Valid([]byte(n.String())) {
			t.Errorf("%q became %q", text, n.String())
		}
	})
}
