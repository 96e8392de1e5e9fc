package bwrap

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/linux"
	"garuda/internal/sandbox/stage"
	"garuda/internal/sandbox/wrapped"
)

// New makes an executor for one session. An error says that bwrap cannot be used on
// this machine; whether it works, only a trial tells.
func New(opt wrapped.Options) (*linux.Executor, error) { return newWith(Program, opt) }

func newWith(program string, opt wrapped.Options) (*linux.Executor, error) {
	setuid, err := check(program)
	if err != nil {
		return nil, err
	}
	return linux.NewThrough("bwrap", opt, &maker{program: program, setuid: setuid, nothing: nothing{records: opt.Records}})
}

// maker is linux.Maker by bwrap.
type maker struct {
	program string
	setuid  bool
	nothing nothing
}

// Close removes what lies where something is hidden, unless it is kept.
func (m *maker) Close() error { return m.nothing.close() }

// Make says how bwrap makes the namespaces and the view of one command.
func (m *maker) Make(view *sandbox.View, policy *stage.Policy) (_ *linux.Made, err error) {
	o := &opened{}
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	p, places, err := m.plan(view, policy, o)
	if err != nil {
		return nil, err
	}
	args, more, err := p.arguments()
	if err != nil {
		return nil, err
	}
	inner := stage.Inner{Policy: *policy, Places: append(more, places...)}
	inner.Policy.Mounts, inner.Policy.Links = nil, nil
	message, err := inner.Encode()
	if err != nil {
		return nil, err
	}
	self, err := o.open("/proc/self/exe")
	if err != nil {
		return nil, fmt.Errorf("open Garuda's own program: %w", err)
	}
	told, err := o.memory("bwrap arguments", strings.Join(args, "\x00")+"\x00")
	if err != nil {
		return nil, err
	}
	said, err := o.memory("bwrap messages", "")
	if err != nil {
		return nil, err
	}
	return &linux.Made{
		Launch: proc.Launch{
			Path:  m.program,
			Argv:  []string{"bwrap", "--args", fmt.Sprint(stage.InnerTold), "--", stage.InnerPath, stage.InnerProgram},
			Files: []*os.File{self, told}, Aside: said,
		},
		Message: message, Release: o.close,
		Said: func() error { return complaint(said) },
	}, nil
}

// plan looks at the machine for what the policy names: each path is walked here without
// following a link, and what lies there stays open until the command runs, so that its
// number means nothing else.
func (m *maker) plan(view *sandbox.View, policy *stage.Policy, o *opened) (*plan, []stage.Place, error) {
	p := &plan{fullNetwork: policy.FullNetwork, terminals: policy.Terminals, setuid: m.setuid, links: policy.Links}
	if err := m.nothing.make(); err != nil {
		return nil, nil, fmt.Errorf("make what hides files: %w", err)
	}
	var places []stage.Place
	hide := func(at string) (mount, error) {
		source, st, err := m.nothing.over(at)
		if source != "" && err == nil {
			places = append(places, stage.Place{Path: at, Device: st.Dev, Inode: st.Ino, ReadOnly: true})
		}
		return mount{stage.Mount{Kind: stage.Mask, Path: at}, source}, err
	}
	for _, name := range stage.ProcReadOnly() {
		if _, err := os.Lstat("/proc/" + name); err == nil {
			p.switches = append(p.switches, "/proc/"+name)
		}
	}
	for _, name := range stage.ProcHidden() {
		h, err := hide("/proc/" + name)
		if err != nil {
			return nil, nil, err
		}
		if h.source != "" {
			p.hidden = append(p.hidden, h)
		}
	}
	hosts := map[string]string{}
	for i := range view.Entries {
		hosts[view.Entries[i].Path] = view.Entries[i].Host()
	}
	for _, sm := range policy.Mounts {
		if sm.Kind == stage.Mask {
			h, err := hide(sm.Path)
			if err != nil {
				return nil, nil, err
			}
			if h.source != "" { // else it has gone since it was seen
				p.mounts = append(p.mounts, h)
			}
			continue
		}
		source := hosts[sm.Path]
		if source == "" {
			source = sm.Path // a folder above something locked
		}
		st, err := o.hold(source)
		if err != nil {
			return nil, nil, fmt.Errorf("show %s: %w", source, err)
		}
		p.mounts = append(p.mounts, mount{sm, source})
		places = append(places, stage.Place{Path: sm.Path, Device: st.Dev, Inode: st.Ino, ReadOnly: sm.Kind == stage.ReadOnly})
	}
	return p, places, nil
}

// sayLimit is how much is read of what bwrap says.
const sayLimit = 4 << 10

// complaint is what bwrap said, as an error.
func complaint(f *os.File) error {
	b := make([]byte, sayLimit)
	n, _ := f.ReadAt(b, 0) // an empty file is what a silent bwrap leaves
	if n == 0 {
		return nil
	}
	text := strings.TrimPrefix(strings.TrimSpace(string(b[:n])), "bwrap: ")
	if strings.Contains(text, "Unknown option") {
		return fmt.Errorf("%w: it says %q; the command did not run", ErrTooOld, text)
	}
	err := fmt.Errorf("bwrap could not make its sandbox: %s; the command did not run", text)
	for _, errno := range []syscall.Errno{syscall.ENOMEM, syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC, syscall.EPERM, syscall.EACCES} {
		if end := errno.Error(); len(text) >= len(end) && strings.EqualFold(text[len(text)-len(end):], end) {
			return fmt.Errorf("%w (%w)", err, errno)
		}
	}
	return err
}

// opened are files that stay open for a command until it runs.
type opened struct{ files []*os.File }

func (o *opened) close() {
	for _, f := range o.files {
		_ = f.Close() // they were only looked at, or are closed already
	}
}

func (o *opened) open(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err == nil {
		o.files = append(o.files, f)
	}
	return f, err
}

// memory is a file in memory that holds a text, at its beginning.
func (o *opened) memory(name, text string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	o.files = append(o.files, f)
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return nil, err
	}
	return f, nil
}

// hold opens what lies at a path, and keeps it open.
func (o *opened) hold(at string) (unix.Stat_t, error) {
	f, st, err := look(at, 0)
	if err == nil {
		o.files = append(o.files, f)
	}
	return st, err
}

var errLink = errors.New("a symbolic link lies in its path")

// look opens a place by its name alone, without following a link.
func look(at string, flags uint64) (*os.File, unix.Stat_t, error) {
	var st unix.Stat_t
	fd, err := unix.Openat2(unix.AT_FDCWD, at, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC | flags, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if errors.Is(err, unix.ELOOP) {
		return nil, st, errLink
	}
	if err != nil {
		return nil, st, os.NewSyscallError("openat2", err)
	}
	f := os.NewFile(uintptr(fd), at)
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, st, errors.Join(os.NewSyscallError("fstat", err), f.Close())
	}
	return f, st, nil
}
