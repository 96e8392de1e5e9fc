package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEndlessNames: ids and names come from servers; none makes a line that a
// reader would not take.
func TestEndlessNames(t *testing.T) {
	o := options(t)
	l := New(o)
	defer l.Close()
	endless := strings.Repeat("\x01\xff", 1<<20)
	one := Line{ID: endless, SessionID: endless, Agent: endless, Tool: endless, Target: endless, Reason: endless, Decision: DenyUser, Risk: High}
	for range 2 {
		if err := l.Append(one); err != nil {
			t.Fatal(err)
		}
	}
	if got := verify(t, o); !got.OK() || got.Lines != 2 {
		t.Errorf("%+v", got)
	}
}

// TestCutWhileItIsWritten: what somebody does to the file of a running process shows,
// and the lines that follow can be checked.
func TestCutWhileItIsWritten(t *testing.T) {
	for name, do := range map[string]func(path string) error{
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"cut":     func(path string) error { return os.Truncate(path, 400) },
		"garbage": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("garbage\n")
			return err
		},
	} {
		o := options(t)
		l := New(o)
		for range 3 {
			if err := l.Append(line("before")); err != nil {
				t.Fatal(err)
			}
		}
		if err := do(filepath.Join(l.path, l.name)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := l.Append(line("after")); err != nil {
				t.Fatal(err)
			}
		}
		l.Close()
		got := verify(t, o)
		if got.OK() || len(got.Broken) != 1 || got.Files != 2 {
			t.Errorf("%s: %+v", name, got)
		}
		r, err := Open(o.Home, o.Root)
		if err != nil {
			t.Fatal(err)
		}
		if last, err := r.Last(10, func(l *Line) bool { return l.Tool == "after" }); err != nil || len(last) != 2 {
			t.Errorf("%s: %v %v", name, last, err)
		}
		r.Close()
	}
}

// TestNoRoomForTheFirstLine: each try leaves no empty file behind.
func TestNoRoomForTheFirstLine(t *testing.T) {
	o := options(t)
	l := New(o)
	defer l.Close()
	l.mu.Lock()
	if err := l.ready(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(l.path, l.name)
	whole := l.file
	defer whole.Close()
	var err error
	if l.file, err = os.Open(path); err != nil { // takes nothing, as a full disk
		t.Fatal(err)
	}
	l.mu.Unlock()
	if err := l.Append(line("x")); err == nil {
		t.Fatal("a line that was not written went unnoticed")
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("an empty log stayed")
	}
	if err := l.Append(line("x")); err != nil {
		t.Fatal(err)
	}
	if got := verify(t, o); !got.OK() || got.Files != 1 || got.Lines != 1 || len(got.Notes) > 0 {
		t.Errorf("%+v", got)
	}
}
