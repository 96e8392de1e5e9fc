package fileread

import (
	"strings"
	"testing"
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
