package linux

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"garuda/internal/sandbox"
)

// placeholder is an empty folder, or a file of a known size, that was made so that a mount can lock its
// place. Its number tells it from another that came to lie there.
type placeholder struct {
	Path   string `json:"path"`
	Folder bool   `json:"folder,omitempty"`
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	// Size is a file's, in bytes.
	Size int64 `json:"size,omitempty"`
	// Gone takes the line of the same path back.
	Gone bool `json:"gone,omitempty"`
}

func (p placeholder) same(q placeholder) bool {
	return p.Path == q.Path && p.Device == q.Device && p.Inode == q.Inode
}

// places makes and removes the placeholders of one executor. Several executors, and
// several Garudas, may need the same one; it goes with the last of them, because
// removing what is mounted on opens the lock of whoever still runs. So each keeps a
// record of what it uses: a file of JSON lines, locked for as long as it lives.
type places struct {
	dir string // "" keeps no record

	mu     sync.Mutex
	record *os.File // nil until it is needed
	held   map[string]*use
	// left is set when something could not be removed: the record still names it.
	left bool
}

type use struct {
	placeholder
	count int
}

const (
	recordSuffix = ".jsonl"
	// guardName is the file whose lock excludes other executors while placeholders
	// are made or removed.
	guardName = "lock"
)

// newPlaces makes nothing yet: the folder of records comes with the first command
// that needs it.
func newPlaces(dir string) *places { return &places{dir: dir, held: map[string]*use{}} }

// guard excludes every other executor until what it returns is called.
func (p *places) guard() (func() error, error) {
	p.mu.Lock()
	if p.dir == "" {
		return func() error { p.mu.Unlock(); return nil }, nil
	}
	var f *os.File
	err := os.MkdirAll(p.dir, 0o700)
	if err == nil {
		f, err = os.OpenFile(filepath.Join(p.dir, guardName), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	}
	if err == nil {
		err = flock(f, unix.LOCK_EX)
	}
	if err != nil {
		p.mu.Unlock()
		if f != nil {
			err = errors.Join(err, f.Close())
		}
		return nil, err
	}
	return func() error {
		defer p.mu.Unlock()
		return f.Close()
	}, nil
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}

// hold makes the placeholders of a view and returns the view with them. What it
// made or shares is given back by release.
func (p *places) hold(view *sandbox.View) (_ *sandbox.View, held []string, err error) {
	if !slices.ContainsFunc(view.Entries, func(e sandbox.Entry) bool { return e.Missing }) {
		return view, nil, nil
	}
	free, err := p.guard()
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.drop(held))
			held = nil
		}
		err = errors.Join(err, free())
	}()
	others, err := p.others()
	if err != nil {
		return nil, nil, err
	}
	out := *view
	out.Entries = nil
	for _, e := range view.Entries {
		if e.Missing {
			at, err := p.take(&e, others)
			if err != nil {
				return nil, held, fmt.Errorf("keep %s from being made: %w", e.Path, err)
			}
			if at != "" {
				held = append(held, at)
			}
		}
		// Several missing paths may have the same missing folder above them.
		if !slices.ContainsFunc(out.Entries, func(o sandbox.Entry) bool { return o.Path == e.Path }) {
			out.Entries = append(out.Entries, e)
		}
	}
	slices.SortFunc(out.Entries, func(a, b sandbox.Entry) int { return strings.Compare(a.Path, b.Path) })
	return &out, held, nil
}

// take sees to it that something lies where e is, or where the first missing folder
// above it is; then e becomes that. It returns what is to be given back.
func (p *places) take(e *sandbox.Entry, others []placeholder) (string, error) {
	e.Missing = false
	for parent := filepath.Dir(e.Path); parent != "/"; parent = filepath.Dir(parent) {
		_, err := os.Lstat(parent)
		stands := slices.ContainsFunc(others, func(o placeholder) bool { return o.Path == parent })
		if errors.Is(err, fs.ErrNotExist) || p.held[parent] != nil || stands {
			e.Path, e.Folder, e.Text = parent, true, ""
		}
	}
	found, made, err := makePlace(e)
	if err != nil {
		return "", err
	}
	if u := p.held[e.Path]; u != nil && u.same(found) {
		u.count++
		return e.Path, nil
	}
	if !made && !slices.ContainsFunc(others, found.same) {
		return "", nil // it came to be meanwhile: it is somebody's
	}
	if err := p.note(found); err != nil {
		if made {
			err = errors.Join(err, removePlace(found))
		}
		return "", err
	}
	p.held[e.Path] = &use{placeholder: found, count: 1}
	return e.Path, nil
}

// release gives back what hold held.
func (p *places) release(held []string) error {
	if len(held) == 0 {
		return nil
	}
	free, err := p.guard()
	if err != nil {
		return err
	}
	return errors.Join(p.drop(held), free())
}

// drop is release for who has the guard.
func (p *places) drop(held []string) error {
	var errs []error
	for _, at := range held {
		u := p.held[at]
		if u.count--; u.count > 0 {
			continue
		}
		delete(p.held, at)
		others, err := p.others()
		if err == nil && !slices.ContainsFunc(others, u.same) {
			err = removePlace(u.placeholder)
		}
		if err == nil {
			gone := u.placeholder
			gone.Gone = true
			err = p.note(gone)
		}
		p.left = p.left || err != nil
		errs = append(errs, err)
	}
	if len(p.held) == 0 && p.record != nil && !p.left {
		errs = append(errs, p.record.Truncate(0))
	}
	return errors.Join(errs...)
}

// note adds a line to the record.
func (p *places) note(line placeholder) error {
	if p.dir == "" {
		return nil
	}
	if p.record == nil {
		f, err := os.CreateTemp(p.dir, "*"+recordSuffix)
		if err != nil {
			return err
		}
		if err := flock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return errors.Join(err, f.Close())
		}
		// Truncate leaves the offset where it was; lines go to the end all the same.
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFL, unix.O_APPEND); err != nil {
			return errors.Join(os.NewSyscallError("fcntl", err), f.Close())
		}
		p.record = f
	}
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = p.record.Write(append(b, '\n'))
	return err
}

// others are the placeholders in the records of everybody else, the dead included.
func (p *places) others() ([]placeholder, error) {
	var all []placeholder
	err := p.eachRecord(func(f *os.File) error {
		all = append(all, readRecord(f)...)
		return nil
	})
	return all, err
}

// eachRecord visits the records of everybody else.
func (p *places) eachRecord(visit func(*os.File) error) error {
	if p.dir == "" {
		return nil
	}
	names, err := os.ReadDir(p.dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		path := filepath.Join(p.dir, n.Name())
		if !strings.HasSuffix(path, recordSuffix) || p.record != nil && p.record.Name() == path {
			continue
		}
		f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = errors.Join(visit(f), f.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readRecord reads what a record still holds. A line that was not finished when
// Garuda was killed is left out.
func readRecord(f *os.File) []placeholder {
	var out []placeholder
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var p placeholder
		if json.Unmarshal(lines.Bytes(), &p) != nil || !filepath.IsAbs(p.Path) {
			continue
		}
		out = slices.DeleteFunc(out, func(q placeholder) bool { return q.Path == p.Path })
		if !p.Gone {
			out = append(out, p)
		}
	}
	return out
}

// sweep removes what the dead left, unless somebody who lives uses it.
func (p *places) sweep() (err error) {
	if _, err := os.Lstat(p.dir); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was ever locked, or there is no record at all
	}
	free, err := p.guard()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	var dead, alive []placeholder
	var records []string
	err = p.eachRecord(func(f *os.File) error {
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			alive = append(alive, readRecord(f)...)
			return nil //nolint:nilerr // the lock is another's who lives, which is what was asked
		}
		dead, records = append(dead, readRecord(f)...), append(records, f.Name())
		return nil
	})
	for _, d := range dead {
		if err == nil && !slices.ContainsFunc(alive, d.same) {
			err = removePlace(d)
		}
	}
	for _, r := range records {
		if err == nil {
			err = os.Remove(r)
		}
		if errors.Is(err, fs.ErrNotExist) { // its owner was about to end, and has
			err = nil
		}
	}
	return err
}

// close forgets the record of an executor that runs nothing any more.
func (p *places) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.record == nil || len(p.held) > 0 {
		return nil // what a stuck process still needs is left to the next start
	}
	var err error
	if !p.left { // else the next start reads it
		err = os.Remove(p.record.Name())
	}
	err = errors.Join(err, p.record.Close())
	p.record = nil
	return err
}

// openParent opens the folder of a path without following a link on the way.
func openParent(path string) (dir int, name string, err error) {
	dir, err = unix.Openat2(unix.AT_FDCWD, filepath.Dir(path), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if errors.Is(err, unix.ELOOP) {
		return -1, "", errors.New("a symbolic link lies in its path")
	}
	return dir, filepath.Base(path), os.NewSyscallError("openat2", err)
}

// makePlace makes the placeholder of an entry, unless something lies there.
func makePlace(e *sandbox.Entry) (at placeholder, made bool, err error) {
	dir, name, err := openParent(e.Path)
	if err != nil {
		return at, false, err
	}
	defer func() { err = errors.Join(err, unix.Close(dir)) }()
	switch {
	case e.Folder:
		err = unix.Mkdirat(dir, name, 0o755)
	case e.Text != "":
		err = makeFile(dir, name, e.Text)
	default:
		err = unix.Mknodat(dir, name, unix.S_IFREG|0o644, 0)
	}
	made = err == nil
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return at, false, err
	}
	at, _, err = look(dir, name, e.Path)
	return at, made, err
}

// makeFile makes a file with its text in one step, for who reads it at this moment.
// Until then it has no name: under one, a command could have something else there.
func makeFile(dir int, name, text string) (err error) {
	fd, err := unix.Openat(dir, ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	nameless := err == nil
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) {
		// This file system knows no nameless files; for a moment this one is empty.
		fd, err = unix.Openat(dir, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	}
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err = f.WriteString(text); err != nil || !nameless {
		return err
	}
	return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), dir, name, unix.AT_SYMLINK_FOLLOW)
}

// look says what lies at a place.
func look(dir int, name, path string) (placeholder, *unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return placeholder{}, nil, err
	}
	return placeholder{Path: path, Folder: st.Mode&unix.S_IFMT == unix.S_IFDIR, Device: st.Dev, Inode: st.Ino, Size: fileSize(&st)}, &st, nil
}

// fileSize is 0 for a folder, whose size says nothing.
func fileSize(st *unix.Stat_t) int64 {
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return 0
	}
	return st.Size
}

// removePlace removes a placeholder, if it is still the same, and as it was made.
func removePlace(p placeholder) (err error) {
	dir, name, err := openParent(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Close(dir)) }()
	now, st, err := look(dir, name, p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !p.same(now) || st.Size != p.Size && !p.Folder:
		return nil // it is somebody's by now
	case p.Folder:
		if err = unix.Unlinkat(dir, name, unix.AT_REMOVEDIR); errors.Is(err, unix.ENOTEMPTY) {
			return nil // as above
		}
		return err
	}
	return unix.Unlinkat(dir, name, 0)
}
