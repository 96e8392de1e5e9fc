package bwrap

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/linux"
	"garuda/internal/sandbox/stage"
	"garuda/internal/sandbox/wrapped"
)

func TestNamespaces(t *testing.T) {
	if executortest.AsOrdinaryUser(t) && !executortest.Whole() {
		return
	}
	executortest.Namespaces{New: func(t testing.TB, view sandbox.Viewer, network sandbox.Network, records string) sandbox.Executor {
		return executor(t, wrapped.Options{View: view, Network: network, Records: records})
	}}.Run(t)
}

// locking shows a folder with something locked and something hidden in it.
func locking(root string) sandbox.Viewer {
	return func(context.Context, *sandbox.Command) (*sandbox.View, error) {
		v := executortest.SystemView(root)
		v.Entries = append(v.Entries,
			sandbox.Entry{Path: filepath.Join(root, "dir/config"), Access: sandbox.Locked},
			sandbox.Entry{Path: filepath.Join(root, "secret"), Access: sandbox.Masked},
		)
		slices.SortFunc(v.Entries, func(a, b sandbox.Entry) int { return strings.Compare(a.Path, b.Path) })
		return v, nil
	}
}

// project is a folder for locking.
func project(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Mkdir(filepath.Join(root, "dir"), 0o755)
	}
	for _, name := range []string{"dir/config", "secret", "other"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(root, name), []byte("SECRET\n"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// swapper changes something on the machine after a command's view was looked at, and
// before bwrap looks.
type swapper struct {
	linux.Maker
	swap func() error
}

func (s *swapper) Make(view *sandbox.View, policy *stage.Policy) (*linux.Made, error) {
	made, err := s.Maker.Make(view, policy)
	if err == nil {
		err = s.swap()
	}
	return made, err
}

// What comes to lie at a path after it was looked at is noticed before the command runs.
func TestASwapIsNoticed(t *testing.T) {
	for name, swap := range map[string]func(root string) error{
		"a link for a locked file": func(root string) error {
			at := filepath.Join(root, "dir/config")
			return errors.Join(os.Rename(at, at+".old"), os.Symlink("../other", at))
		},
		"another locked file": func(root string) error {
			return os.Rename(filepath.Join(root, "other"), filepath.Join(root, "dir/config"))
		},
		"a link for a folder above it": func(root string) error {
			at := filepath.Join(root, "dir")
			return errors.Join(os.Rename(at, at+".old"), os.Symlink("dir.old", at))
		},
		"a link for what is hidden": func(root string) error {
			at := filepath.Join(root, "secret")
			return errors.Join(os.Rename(at, at+".old"), os.Symlink("other", at))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := project(t)
			opt := wrapped.Options{Supervisor: executortest.Supervisor(t), View: locking(root), Records: t.TempDir()}
			if _, err := check(Program); err != nil {
				t.Skip(err)
			}
			e, err := linux.NewThrough("bwrap", opt, &swapper{
				&maker{program: Program, nothing: nothing{records: opt.Records}}, func() error { return swap(root) },
			})
			if err != nil {
				t.Fatal(err)
			}
			res, err := e.Run(t.Context(), executortest.Shell(root, ": > ran"))
			if err == nil {
				t.Errorf("it ran: %+v", res)
			}
			if _, err := os.Lstat(filepath.Join(root, "ran")); err == nil {
				t.Error("it ran")
			}
			if err := e.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestALinkThatIsToBeHiddenEndsIt(t *testing.T) {
	root := project(t)
	if err := errors.Join(os.Remove(filepath.Join(root, "secret")), os.Symlink("other", filepath.Join(root, "secret"))); err != nil {
		t.Fatal(err)
	}
	_, err := executor(t, wrapped.Options{View: locking(root)}).Run(t.Context(), executortest.Shell(root, ": > ran"))
	if _, ran := os.Lstat(filepath.Join(root, "ran")); err == nil || !strings.Contains(err.Error(), "hides no symbolic link") || ran == nil {
		t.Errorf("%v, %v", err, ran)
	}
}

// childVariable makes this test binary a Garuda that is killed in the middle.
const childVariable = "GARUDA_TEST_CHILD"

func TestKillOfGarudaEndsEverything(t *testing.T) {
	const sleeper = "sleep 31536002"
	if root := os.Getenv(childVariable); root != "" {
		e := executor(t, wrapped.Options{View: locking(root), Records: filepath.Join(root, "records")})
		_, err := e.Run(t.Context(), executortest.Shell(root, "setsid "+sleeper+" & "+sleeper+" & echo > begun; wait"))
		t.Fatalf("it ended: %v", err)
	}
	executor(t, wrapped.Options{}) // or it is skipped
	root := project(t)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestKillOfGarudaEndsEverything$")
	cmd.Env = append(os.Environ(), childVariable+"="+root, "TMPDIR="+t.TempDir()) // it removes nothing of its own
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	executortest.WaitFor(t, "the command", func() bool { _, err := os.Lstat(filepath.Join(root, "begun")); return err == nil })
	executortest.WaitFor(t, "all of it", func() bool { return executortest.Running(t, sleeper) == 2 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	executortest.WaitFor(t, "its end", func() bool { return executortest.Running(t, sleeper) == 0 })
}

// Only a program that root alone can change is run, at its own path.
func TestWhichProgramIsRun(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "bwrap")
	if err := os.WriteFile(mine, []byte("#!/bin/sh\n: > ran\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(mine, 0o777); err != nil { // which is what is refused
		t.Fatal(err)
	}
	for program, want := range map[string]error{
		filepath.Join(dir, "none"): ErrMissing, mine: ErrNotTrusted, "/dev/null": ErrNotTrusted, "/usr/bin": ErrNotTrusted,
	} {
		if _, err := newWith(program, wrapped.Options{Supervisor: executortest.Supervisor(t)}); !errors.Is(err, want) {
			t.Errorf("%s: %v", program, err)
		}
	}
}

// What bwrap says of its failure is in the error; nothing runs.
func TestWhatBwrapSays(t *testing.T) {
	for said, want := range map[string]error{
		"bwrap: Unknown option --disable-userns\n": ErrTooOld, "bwrap: Creating new namespace failed: Permission denied\n": os.ErrPermission,
		"bwrap: Can't make symlink at /x: Invalid argument": nil,
	} {
		f, err := (&opened{}).memory("said", said)
		if err != nil {
			t.Fatal(err)
		}
		err = complaint(f)
		if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), "the command did not run") {
			t.Errorf("%q: %v", said, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestArguments(t *testing.T) {
	p := &plan{
		mounts:   []mount{{stage.Mount{Kind: stage.Writable, Path: "/p"}, "/p"}, {stage.Mount{Kind: stage.Pin, Path: "/p/d"}, "/p/d"}, {stage.Mount{Path: "/p/d/c"}, "/real/c"}},
		links:    []stage.Link{{Path: "/bin", Target: "usr/bin"}},
		switches: []string{"/proc/sys"}, hidden: []mount{{stage.Mount{Kind: stage.Mask, Path: "/proc/kcore"}, "/nothing/file"}},
	}
	args, places, err := p.arguments()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(args, " ")
	for _, want := range []string{
		"--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup --die-with-parent --as-pid-1 --cap-drop ALL --unshare-net " +
			"--unshare-user --disable-userns --assert-userns-disabled --cap-add CAP_SETPCAP ",
		"--proc /proc --ro-bind /proc/sys /proc/sys --ro-bind /nothing/file /proc/kcore --bind /p /p --bind /p/d /p/d --ro-bind /real/c /p/d/c --symlink usr/bin /bin --remount-ro / --chdir /",
		"--dir /dev --dev-bind /dev/null /dev/null", "--size 16777216 --tmpfs /run",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if !slices.Contains(places, stage.Place{Path: "/proc/sys", ReadOnly: true}) || slices.Contains(args, "--dev") {
		t.Errorf("%+v, %s", places, got)
	}
	// A setuid bwrap takes less.
	p.setuid, p.fullNetwork = true, true
	args, _, err = p.arguments()
	if err != nil || slices.Contains(args, "--size") || slices.Contains(args, "--cap-add") || slices.Contains(args, "--unshare-user") || slices.Contains(args, "--unshare-net") {
		t.Errorf("%s, %v", args, err)
	}
	p.mounts = make([]mount, maxArguments/3)
	if _, _, err := p.arguments(); !errors.Is(err, ErrTooMuch) {
		t.Error(err)
	}
}
