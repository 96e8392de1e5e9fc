package fileread

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"strings"
	"testing"

	"garuda/internal/core"
)

func picturePNG(t *testing.T, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadImage(t *testing.T) {
	small := picturePNG(t, 30, 20)
	env := newEnv(t, map[string]string{"a.png": small, "big.PNG": picturePNG(t, 2000, 1000), "broken.png": small[:30], "text.png": "no picture\n"})
	out, err := run(env, readFile{}, args{"path": "a.png"})
	if err != nil || len(out.Blocks) != 1 || out.Blocks[0].Type != core.BlockImage || string(out.Blocks[0].Data) != small {
		t.Fatalf("%+v, %v", out, err)
	}
	if !strings.HasPrefix(out.Text, "a.png: a PNG image of ") || !strings.HasSuffix(out.Text, ", 30 × 20 pixels.") {
		t.Error(out.Text)
	}
	if got := mustRun(t, env, readFile{}, args{"path": "big.PNG"}); !strings.HasSuffix(got, "2000 × 1000 pixels, shown at 1568 × 784.") {
		t.Error(got)
	}
	if got := mustRun(t, env, readFile{}, args{"path": "a.png"}); !strings.Contains(got, "unchanged") {
		t.Errorf("the same picture again: %s", got)
	}
	wantError(t, env, readFile{}, args{"path": "broken.png"}, "broken.png is a PNG image: read the picture's size")
	if got := mustRun(t, env, readFile{}, args{"path": "text.png"}); got != "1\tno picture" {
		t.Errorf("the contents decide, not the name: %q", got)
	}
}

func TestReadNotebook(t *testing.T) {
	pixel := base64.StdEncoding.EncodeToString([]byte(picturePNG(t, 3, 3)))
	env := newEnv(t, map[string]string{
		"n.ipynb": `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[
{"cell_type":"markdown","id":"m","metadata":{},"source":["# T\n","text"]},
{"cell_type":"code","id":"c","metadata":{},"execution_count":1,"source":"print(1)","outputs":[
 {"output_type":"stream","name":"stdout","text":["1\n"]},
 {"output_type":"error","ename":"E","evalue":"v","traceback":["\u001b[0;31mred\u001b[0m"]},
 {"output_type":"display_data","metadata":{},"data":{"image/png":"` + pixel + `"}}]}]}`,
		"bad.ipynb": "not json\n",
	})
	out, err := run(env, readFile{}, args{"path": "n.ipynb"})
	if err != nil {
		t.Fatal(err)
	}
	want := "[cell 1, id m, markdown]\n1\t# T\n2\ttext\n\n[cell 2, id c, code]\n1\tprint(1)\n[stream]\n1\n[error]\nE: v\nred\n[display: picture 1, a PNG image of "
	if !strings.HasPrefix(out.Text, want) || len(out.Blocks) != 1 || out.Blocks[0].MediaType != "image/png" {
		t.Errorf("%d blocks and\n%s", len(out.Blocks), out.Text)
	}
	if got := mustRun(t, env, readFile{}, args{"path": "n.ipynb", "limit": 1}); !strings.HasSuffix(got, "[cells 1-1 of 2; to go on use offset=2, which counts cells here]") {
		t.Error(got)
	}
	wantError(t, env, readFile{}, args{"path": "n.ipynb", "offset": 3}, "n.ipynb has 2 cells")
	if got := mustRun(t, env, readFile{}, args{"path": "bad.ipynb"}); got != "1\tnot json" {
		t.Error(got)
	}
}

// Only who saw all cells has read the file, and may write it anew.
func TestPartOfANotebookIsNotAll(t *testing.T) {
	text := `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[
{"cell_type":"raw","id":"a","metadata":{},"source":"1"},
{"cell_type":"raw","id":"b","metadata":{},"source":"2"}]}`
	for _, tt := range []struct {
		in   args
		want bool
	}{
		{args{"path": "n.ipynb", "limit": 1}, false},
		{args{"path": "n.ipynb", "offset": 2}, false},
		{args{"path": "n.ipynb"}, true},
	} {
		env := newEnv(t, map[string]string{"n.ipynb": text})
		mustRun(t, env, readFile{}, tt.in)
		p, err := env.Workspace.Resolve("n.ipynb")
		if err != nil {
			t.Fatal(err)
		}
		c, err := env.Workspace.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := env.Tracker.Whole(p.Real, c.Snapshot); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.in, got, tt.want)
		}
	}
}
