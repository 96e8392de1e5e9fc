package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestCheckRoot(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the table is of Unix paths")
	}
	opt := Options{Home: "/home/user", GarudaHome: "/srv/state/garuda"}
	for _, tc := range []struct{ path, why string }{
		{"/", "top of the file system"},
		{"/home/user", "your home folder"},
		{"/home/user/", "your home folder"},
		{"/home", "holds your home folder"},
		{"/tmp", "temporary folder"},
		{"/var/tmp", "temporary folder"},
		{"/private/tmp", "temporary folder"},
		{"/dev/shm", "kernel's"},
		{"/proc/self/cwd", "kernel's"},
		{"/sys", "kernel's"},
		{"/dev", "kernel's"},
		{"/srv/state/garuda", "Garuda's own folder"},
		{"/srv/state", "Garuda's own folder"},
		{"/srv", "Garuda's own folder"},
		{"/srv/state/garuda/worktrees/p", ""},
		{"/srv/statement", ""},
		{"/home/user/project", ""},
		{"/home/user2/project", ""},
		{"/tmp/project", ""},
		{"/tmpfoo", ""},
		{"/processes", ""},
		{"/opt/project", ""},
	} {
		err := CheckRoot(tc.path, opt)
		switch {
		case tc.why == "" && err != nil:
			t.Errorf("CheckRoot(%q) = %v, want nil", tc.path, err)
		case tc.why != "" && (err == nil || !strings.Contains(err.Error(), tc.why)):
			t.Errorf("CheckRoot(%q) = %v, want an error about %q", tc.path, err, tc.why)
		}
		var root *RootError
		if err != nil && !errors.As(err, &root) {
			t.Errorf("CheckRoot(%q) is a %T, want *RootError", tc.path, err)
		}
	}
	if runtime.GOOS == "linux" {
		if err := CheckRoot("/root", Options{}); err == nil {
			t.Error("root's home folder was accepted")
		}
	}
}

// A home or state folder reached through a link is still that folder.
func TestOpenRefusesThroughLinks(t *testing.T) {
	base := t.TempDir()
	home := filepath.Join(base, "realhome")
	write(t, filepath.Join(home, ".garuda", "x"), "")
	symlink(t, home, filepath.Join(base, "home"))
	opt := Options{Home: filepath.Join(base, "home"), GarudaHome: filepath.Join(base, "home", ".garuda")}
	for _, path := range []string{home, filepath.Join(base, "home"), base, filepath.Join(home, ".garuda")} {
		if w, err := Open(path, nil, opt); err == nil {
			w.Close()
			t.Errorf("Open(%s) succeeded", path)
		}
	}
	project := filepath.Join(home, "project")
	write(t, filepath.Join(project, "f"), "")
	w, err := Open(project, nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if w, err := Open(project, []string{home}, opt); err == nil {
		w.Close()
		t.Error("the home folder was accepted as an added folder")
	}
	for _, missing := range []string{filepath.Join(base, "none"), filepath.Join(project, "f")} {
		if w, err := Open(missing, nil, opt); err == nil {
			w.Close()
			t.Errorf("Open(%s) succeeded", missing)
		}
	}
	// The state folder need not exist yet to be protected.
	if err := os.RemoveAll(filepath.Join(home, ".garuda")); err != nil {
		t.Fatal(err)
	}
	if err := CheckRoot(home, Options{GarudaHome: filepath.Join(base, "home", ".garuda")}); err == nil {
		t.Error("a folder that would hold GARUDA_HOME was accepted")
	}
}
