package linux

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path"
	"strings"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/stage"
)

// plan turns a view into what the stage does. It looks at nothing on the machine.
func plan(view *sandbox.View) *stage.Policy {
	p := &stage.Policy{
		FullNetwork: view.FullNetwork, UnixSockets: len(view.UnixSockets) > 0,
		Processes:   uint64(max(view.Limits.Processes, 0)),
		MemoryBytes: uint64(max(view.Limits.MemoryBytes, 0)), FileBytes: uint64(max(view.Limits.FileBytes, 0)),
	}
	mounted := map[string]bool{}
	for i := range view.Entries {
		e := &view.Entries[i]
		around := holders(view.Entries[:i], e.Path)
		if e.Access == sandbox.Locked || e.Access == sandbox.ReadOnly {
			for _, dir := range pins(around, e.Path) {
				if !mounted[dir] {
					mounted[dir] = true
					p.Mounts = append(p.Mounts, stage.Mount{Kind: stage.Pin, Path: dir})
				}
			}
		}
		mounted[e.Path] = true
		p.Mounts = append(p.Mounts, mountOf(e, around))
	}
	for _, l := range view.Links {
		p.Links = append(p.Links, stage.Link(l))
	}
	return p
}

// holders are the entries in which a path lies, from the outermost.
func holders(entries []sandbox.Entry, at string) []*sandbox.Entry {
	var found []*sandbox.Entry
	for i := range entries {
		if below(at, entries[i].Path) {
			found = append(found, &entries[i])
		}
	}
	return found
}

// below reports whether a clean path lies inside a folder, and is not it.
func below(at, folder string) bool {
	return folder != at && (folder == "/" || strings.HasPrefix(at, folder+"/"))
}

// pins are the folders above a path that would take it along when they are renamed,
// from the outermost: those inside what can be written and is the machine's own.
func pins(around []*sandbox.Entry, at string) []string {
	var out []string
	for _, e := range around {
		if e.Access == sandbox.Writable && e.Host() == e.Path {
			for dir := path.Dir(at); below(dir, e.Path); dir = path.Dir(dir) {
				out = append([]string{dir}, out...)
			}
			break
		}
	}
	return out
}

func mountOf(e *sandbox.Entry, around []*sandbox.Entry) stage.Mount {
	m := stage.Mount{Path: e.Path, Source: e.Host()}
	switch e.Access {
	case sandbox.Writable:
		m.Kind = stage.Writable
	case sandbox.Masked:
		m.Kind, m.Source = stage.Mask, ""
		return m
	case sandbox.ReadOnly, sandbox.Locked:
		m.Kind = stage.ReadOnly
	default:
		m.Kind = stage.ReadOnly // whatever else may come to be: the least
	}
	if len(around) == 0 {
		m.Create = true
		return m
	}
	holder := around[len(around)-1]
	if holder.Access != sandbox.Masked && path.Join(holder.Host(), strings.TrimPrefix(e.Path, holder.Path)) == e.Host() {
		m.Source = "" // it is there already
		return m
	}
	m.Create = holder.Access == sandbox.Writable && holder.Host() != holder.Path
	return m
}

// maxListeners is how many listeners a passage may ask for.
const maxListeners = 64

// listeners are those of a passage as the stage opens them.
func listeners(list []sandbox.Listener) ([]stage.Listener, error) {
	if len(list) > maxListeners {
		return nil, fmt.Errorf("open its way into the network: %d listeners, and %d at most", len(list), maxListeners)
	}
	out := make([]stage.Listener, 0, len(list))
	for _, l := range list {
		at, err := netip.ParseAddrPort(l.Address)
		if err == nil && (!at.Addr().Is4() || l.Network != "tcp4" && l.Network != "udp4") {
			err = errors.New("it is neither tcp4 nor udp4")
		}
		if err != nil {
			return nil, fmt.Errorf("open its way into the network at %s %s: %w", l.Network, l.Address, err)
		}
		out = append(out, stage.Listener{UDP: l.Network == "udp4", Addr: at.Addr().As4(), Port: at.Port()})
	}
	return out, nil
}

// merge is env with the variables in add, which win.
func merge(env, add []string) []string {
	named := map[string]bool{}
	for _, v := range add {
		name, _, _ := strings.Cut(v, "=")
		named[name] = true
	}
	out := make([]string, 0, len(env)+len(add))
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); !named[name] {
			out = append(out, v)
		}
	}
	return append(out, add...)
}

// SystemView is as little as /bin/true needs to run.
func SystemView() (*sandbox.View, error) {
	view := &sandbox.View{}
	for _, dir := range []string{"/bin", "/lib", "/lib64", "/usr"} {
		info, err := os.Lstat(dir)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return nil, err
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(dir)
			if err != nil {
				return nil, err
			}
			view.Links = append(view.Links, sandbox.Link{Path: dir, Target: target})
		default:
			view.Entries = append(view.Entries, sandbox.Entry{Path: dir, Why: "programs of the system"})
		}
	}
	return view, nil
}
