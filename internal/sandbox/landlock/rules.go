// Package landlock confines commands where the kernel refuses user namespaces
// altogether: with Landlock for files and ports, and a seccomp filter for the rest.
//
// It is the weakest of the sandboxes, and docs/sandbox.md says what it does not
// hold. Landlock only allows: what is allowed for a folder cannot be taken back for
// something inside it. So a folder that holds something locked is not granted
// itself; what lies in it at the start of the command is, one by one. Hence a
// command cannot make, remove or rename anything directly in such a folder, the
// project's own among them. The package never decides whether a command may run.
package landlock

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"garuda/internal/sandbox"
)

// Access is what may be done with a file, or a folder and all that lies in it: the
// bits LANDLOCK_ACCESS_FS_* of <linux/landlock.h>.
type Access uint64

const (
	Execute    Access = 1 << 0
	WriteFile  Access = 1 << 1
	ReadFile   Access = 1 << 2
	ReadDir    Access = 1 << 3
	RemoveDir  Access = 1 << 4
	RemoveFile Access = 1 << 5
	MakeChar   Access = 1 << 6
	MakeDir    Access = 1 << 7
	MakeReg    Access = 1 << 8
	MakeSock   Access = 1 << 9
	MakeFifo   Access = 1 << 10
	MakeBlock  Access = 1 << 11
	MakeSym    Access = 1 << 12
	// Refer lets names move from one folder to another, since version 2.
	Refer Access = 1 << 13
	// Truncate is a right of its own since version 3.
	Truncate Access = 1 << 14
	// IoctlDev is ioctl(2) on devices, since version 5.
	IoctlDev Access = 1 << 15
)

const (
	reads  = Execute | ReadFile | ReadDir
	writes = WriteFile | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym | Refer | Truncate
)

// Least is the oldest version of Landlock that is of use here: before it a command
// could cut any file of the user's to nothing.
const Least = 3

// Handled are the rights that a version of Landlock refuses where they are not granted.
func Handled(version int) Access {
	all := reads | writes | MakeChar | MakeBlock
	if version >= 5 {
		all |= IoctlDev
	}
	return all
}

// Rule grants access to a path and everything in it.
type Rule struct {
	Path   string
	Access Access
}

// ErrTooMany is in the error for a view that takes more rules than maxRules.
var ErrTooMany = errors.New("too many files lie beside what is locked")

// maxRules bounds how long a command may take to start: some ten thousand rules
// are made in a fraction of a second.
const maxRules = 20_000

// Rules is what Landlock is told for a view. list gives what lies in a folder of the
// machine (os.ReadDir); a folder that is not there is empty.
//
// No rule lets a command write what is locked or only read, nor read what is masked;
// the names in a masked folder can be seen all the same.
func Rules(v *sandbox.View, list func(dir string) ([]fs.DirEntry, error)) ([]Rule, error) {
	r := ruler{entries: v.Flat(), list: list}
	for i := range r.entries {
		e := &r.entries[i]
		if !path.IsAbs(e.Path) || path.Clean(e.Path) != e.Path {
			return nil, fmt.Errorf("describe %q to Landlock: the path is not absolute and clean", e.Path)
		}
		if i+1 < len(r.entries) && r.entries[i+1].Path == e.Path {
			continue // a stricter one follows
		}
		var err error
		switch {
		case e.Missing:
		case e.Access == sandbox.Writable:
			err = r.grant(e.Path, reads|writes)
		case e.Access == sandbox.ReadOnly, e.Access == sandbox.Locked:
			err = r.grant(e.Path, reads)
		}
		if err != nil {
			return nil, err
		}
	}
	r.rules = append(r.rules, system...)
	return r.rules, nil
}

// system is what programs need besides, and no view names: the devices that hold
// nothing of anybody's, and /proc. What it tells of other processes is their names
// and command lines; Landlock itself guards their memory and environment.
var system = []Rule{
	{"/dev/null", ReadFile | WriteFile | Truncate},
	{"/dev/zero", ReadFile | WriteFile | Truncate},
	{"/dev/full", ReadFile | WriteFile | Truncate},
	{"/dev/random", ReadFile},
	{"/dev/urandom", ReadFile},
	{"/proc", ReadFile | ReadDir},
}

type ruler struct {
	entries []sandbox.Entry
	list    func(dir string) ([]fs.DirEntry, error)
	rules   []Rule
}

// grant gives access to a path and what lies in it, but for entries of their own
// that allow less.
func (r *ruler) grant(at string, access Access) error {
	spared := r.spared(at)
	left := access &^ spared
	if left != 0 {
		r.rules = append(r.rules, Rule{at, left})
		if len(r.rules) > maxRules {
			return fmt.Errorf("describe %s to Landlock: %w: more than %d rules", at, ErrTooMany, maxRules)
		}
	}
	if spared &= access; spared == 0 {
		return nil
	}
	names, err := r.list(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for what may be granted in %s: %w", at, err)
	}
	for _, n := range names {
		child := path.Join(at, n.Name())
		if r.own(child) || n.Type()&fs.ModeSymlink != 0 {
			continue // it has its own rule, or is what it points to
		}
		if err := r.grant(child, spared); err != nil {
			return err
		}
	}
	return nil
}

// spared are the rights that something below a path must not get from it.
func (r *ruler) spared(at string) Access {
	var spared Access
	for i := range r.entries {
		e := &r.entries[i]
		if e.Path == at || !strings.HasPrefix(e.Path, strings.TrimSuffix(at, "/")+"/") {
			continue
		}
		switch e.Access {
		case sandbox.Writable:
		case sandbox.Masked:
			// Names stay visible: without them no folder above could be listed.
			spared |= (reads | writes) &^ ReadDir
		default:
			spared |= writes
		}
	}
	return spared
}

// own reports whether a path is an entry itself.
func (r *ruler) own(at string) bool {
	_, found := slices.BinarySearchFunc(r.entries, at, func(e sandbox.Entry, p string) int { return strings.Compare(e.Path, p) })
	return found
}
