package fileread

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"garuda/internal/tool"
)

func TestReadManyFiles(t *testing.T) {
	env := newEnv(t, map[string]string{"a": "one\n", "b": "1\n2\n3\n", "bin": "\x00", "s.key": "secret\n"})
	got := mustRun(t, env, readManyFiles{}, args{"files": []args{
		{"path": "b", "offset": 2, "limit": 1}, {"path": "gone"}, {"path": "a"}, {"path": "bin"}, {"path": "s.key"}, {"path": "../x"},
	}})
	for _, want := range []string{
		"===== b =====\n2\t2\n", "===== gone =====\n[unreadable: gone does not exist", "===== a =====\n1\tone\n",
		"===== bin =====\n[unreadable: bin is not text", "===== s.key =====\n[unreadable: it is protected", "===== ../x =====\n[unreadable: ../x leads to ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "secret") {
		t.Error("a protected file was shown")
	}
	// It counts as read, and what is still in the conversation is not repeated.
	if got := mustRun(t, env, readFile{}, args{"path": "a"}); !strings.Contains(got, "unchanged") {
		t.Errorf("read again: %s", got)
	}
	out, err := run(env, readManyFiles{}, args{"files": []args{{"path": "gone"}}})
	if err != nil || !out.IsError {
		t.Errorf("nothing could be read: %+v, %v", out, err)
	}
}

// Pictures come with the text, in the order of the files; a later read says that
// they are in the conversation.
func TestReadManyPictures(t *testing.T) {
	env := newEnv(t, map[string]string{"a.png": picturePNG(t, 3, 3), "b": "x\n", "c.png": picturePNG(t, 4, 4)})
	out, err := run(env, readManyFiles{}, args{"files": []args{{"path": "c.png"}, {"path": "b"}, {"path": "a.png"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Blocks) != 2 || string(out.Blocks[0].Data) != picturePNG(t, 4, 4) || string(out.Blocks[1].Data) != picturePNG(t, 3, 3) {
		t.Errorf("%d blocks with\n%s", len(out.Blocks), out.Text)
	}
}

// A fault in reading one file is this call's, for the pipeline to catch, and does
// not end the program.
func TestReadManyPanics(t *testing.T) {
	env := newEnv(t, map[string]string{"a": "x\n"})
	plan, err := (readManyFiles{}).Plan(context.Background(), env, []byte(`{"files":[{"path":"a"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	env.Tracker = nil
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "read a: ") {
			t.Errorf("recovered %v", p)
		}
	}()
	out, err := (readManyFiles{}).Run(context.Background(), &tool.Call{Env: env, Plan: plan})
	t.Errorf("no panic: %+v, %v", out, err)
}
