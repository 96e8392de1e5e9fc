package fileedit

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestNotebookEdit(t *testing.T) {
	const book = "{\r\n \"cells\": [\r\n  {\r\n   \"cell_type\": \"code\",\r\n   \"execution_count\": 1,\r\n   \"id\": \"a\",\r\n   \"metadata\": {},\r\n   \"outputs\": [],\r\n   \"source\": [\r\n    \"é = 1\"\r\n   ]\r\n  }\r\n ],\r\n \"metadata\": {},\r\n \"nbformat\": 4,\r\n \"nbformat_minor\": 5\r\n}"
	env := newEnv(t, map[string]string{"b.ipynb": book, "x.ipynb": "text"})
	wantError(t, env, notebookEdit{}, args{"path": "b.ipynb", "cell_id": "a", "source": "x"}, "was not read")
	read(t, env, "b.ipynb")
	for _, tt := range []struct {
		in   args
		want string
	}{
		{args{"path": "b.ipynb", "source": "x"}, "give its cell_id"},
		{args{"path": "b.ipynb", "cell_id": "z", "source": "x"}, `no cell with the id "z"; the cells are a`},
		{args{"path": "b.ipynb", "mode": "insert", "source": "x"}, "needs its cell_type"},
		{args{"path": "gone.ipynb", "cell_id": "z"}, "does not exist"},
	} {
		wantError(t, env, notebookEdit{}, tt.in, tt.want)
	}
	if got := mustRun(t, env, notebookEdit{}, args{"path": "b.ipynb", "cell_id": "a", "source": "ü = 2\nprint(ü)"}); got != "Replaced cell a of b.ipynb." {
		t.Error(got)
	}
	// Every other byte stays: CRLF, and no newline at the end.
	want := strings.Replace(strings.Replace(book, "\"é = 1\"", "\"ü = 2\\n\",\r\n    \"print(ü)\"", 1), ": 1,", ": null,", 1)
	if got := content(t, env, "b.ipynb"); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	got := mustRun(t, env, notebookEdit{}, args{"path": "b.ipynb", "mode": "insert", "cell_type": "markdown", "source": "# T"})
	id := strings.TrimSuffix(strings.TrimPrefix(got, "Inserted cell "), " of b.ipynb.")
	mustRun(t, env, notebookEdit{}, args{"path": "b.ipynb", "mode": "delete", "cell_id": id})
	if got := content(t, env, "b.ipynb"); got != want {
		t.Errorf("after insert and delete: %q\nwant %q", got, want)
	}
	if !json.Valid([]byte(want)) {
		t.Error("no JSON")
	}
	read(t, env, "x.ipynb")
	wantError(t, env, notebookEdit{}, args{"path": "x.ipynb", "cell_id": "a", "source": "x"}, "not valid JSON")
}
