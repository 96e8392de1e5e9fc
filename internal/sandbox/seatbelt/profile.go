package seatbelt

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"garuda/internal/sandbox"
)

// ErrUnsafePath is wrapped by the error for a path that no profile can hold.
var ErrUnsafePath = errors.New("the path cannot be put into a profile")

// Profile is the profile that keeps a command to the view, and the parameters
// that it names, each NAME=VALUE for a -D of sandbox-exec(1). Paths are in the
// parameters alone, so that none can end a string and go on as a rule; only what
// does not exist yet is matched by a pattern, see foldedPattern.
//
// The last rule that matches counts. So the rules for a folder stand before
// those for what lies in it, and what must hold whatever else is allowed stands
// at the end.
//
// Nothing can be mounted here. An entry whose source lies elsewhere is therefore
// denied at its path and granted at its source.
func Profile(v *sandbox.View) (text string, params []string, err error) {
	grants, err := grantsOf(v)
	if err != nil {
		return "", nil, err
	}
	for _, s := range v.UnixSockets {
		if err := checkPath(s); err != nil {
			return "", nil, fmt.Errorf("describe a socket to macOS: %w", err)
		}
	}
	p := &profile{names: map[string]string{}}
	p.line(head)
	for _, g := range grants {
		p.grant(g)
	}
	p.ancestors(grants)
	p.network(v)
	p.pins(grants)
	p.line(tail)
	return p.text.String(), p.params, nil
}

// grantsOf is what holds for which path, folders before what lies in them.
func grantsOf(v *sandbox.View) ([]sandbox.Entry, error) {
	grants := v.Flat()
	for _, g := range grants {
		if err := checkPath(g.Path); err != nil {
			return nil, fmt.Errorf("describe %s to macOS: %w", g.Why, err)
		}
		if g.Access > sandbox.Masked {
			return nil, fmt.Errorf("describe %q to macOS: the access %d is unknown", g.Path, g.Access)
		}
	}
	return grants, nil
}

func checkPath(p string) error {
	if !path.IsAbs(p) || path.Clean(p) != p || strings.ContainsRune(p, 0) {
		return fmt.Errorf("%q: %w: it is not absolute and clean", p, ErrUnsafePath)
	}
	return nil
}

// profile is a profile in the making.
type profile struct {
	text   strings.Builder
	params []string
	names  map[string]string // of parameters, by value
}

func (p *profile) line(s string) { p.text.WriteString(s + "\n") }

// param names a path.
func (p *profile) param(value string) string {
	name, ok := p.names[value]
	if !ok {
		name = "P" + strconv.Itoa(len(p.params))
		p.names[value] = name
		p.params = append(p.params, name+"="+value)
	}
	return `(param "` + name + `")`
}

// ancestors lets programs find out where they are, which takes looking at each
// folder above, but not into it.
func (p *profile) ancestors(grants []sandbox.Entry) {
	seen := map[string]bool{}
	p.line("; Folders above what is granted can be looked at, not into.")
	for _, g := range grants {
		if g.Access == sandbox.Masked {
			continue
		}
		for _, dir := range above(g.Path) {
			if !seen[dir] {
				seen[dir] = true
				p.line("(allow file-read-metadata file-test-existence (literal " + p.param(dir) + "))")
			}
		}
	}
}

// above lists the folders above a path, the nearest first.
func above(file string) []string {
	var dirs []string
	for file != "/" {
		file = path.Dir(file)
		dirs = append(dirs, file)
	}
	return dirs
}

func (p *profile) grant(g sandbox.Entry) {
	what := "(subpath " + p.param(g.Path) + "))"
	switch g.Access {
	case sandbox.ReadOnly, sandbox.Locked:
		p.line("(allow " + reading + " " + what)
		p.line("(deny file-write* " + what)
	case sandbox.Writable:
		p.line("(allow " + reading + " file-write* " + what)
	case sandbox.Masked:
		p.line("(deny " + reading + " file-write* " + what)
	}
}

// pins keeps locked paths where they are: nothing above them is renamed, removed
// or made, and what is missing is not made in another spelling either.
func (p *profile) pins(grants []sandbox.Entry) {
	p.line("; What is locked is not reached by moving, removing or making what lies above it.")
	pinned := map[string]bool{}
	for _, g := range grants {
		if g.Access != sandbox.Locked {
			continue
		}
		if g.Missing {
			p.line(`(deny file-write* (regex #"` + foldedPattern(g.Path) + `($|/)"))`)
		}
		for _, dir := range above(g.Path) {
			if !pinned[dir] {
				pinned[dir] = true
				p.line("(deny file-write* (literal " + p.param(dir) + "))")
			}
			if folded := foldedPattern(dir); g.Missing && dir != "/" && !pinned[folded] {
				pinned[folded] = true
				p.line(`(deny file-write* (regex #"` + folded + `$"))`)
			}
		}
	}
}

// foldedPattern is a regular expression for every spelling of a path that a
// volume may take for the same one: macOS's volumes ignore case, some of them
// also invisible characters, and a few letters have twins outside ASCII. What
// does not exist has no canonical spelling yet by which the kernel could tell.
//
// It holds only letters, digits and the signs that are written here, so that it
// cannot end its string. Any other character matches whatever stands in its
// place: that may deny more than is meant, never less.
func foldedPattern(file string) string {
	const others = `[^ -~]*` // whatever is not ASCII
	var b strings.Builder
	b.WriteByte('^')
	for i := range len(file) {
		c := file[i]
		lower, upper := c|0x20, c&^0x20
		letter := 'a' <= lower && lower <= 'z'
		switch {
		case c == '/':
			b.WriteByte('/')
			continue
		case letter:
			b.WriteString("[" + string(rune(lower)) + string(rune(upper)) + "]")
			if lower == 'k' || lower == 's' { // the Kelvin sign, the long s
				b.WriteByte('?')
			}
		case '0' <= c && c <= '9', c == '_', c == '-':
			b.WriteByte(c)
		case c == '.':
			b.WriteString("[.]")
		default:
			if !strings.HasSuffix(b.String(), ".*") {
				b.WriteString(".*")
			}
			continue
		}
		b.WriteString(others)
	}
	return b.String()
}

func (p *profile) network(v *sandbox.View) {
	if v.FullNetwork {
		p.line(fullNetwork)
	}
	ports := slices.Compact(slices.Sorted(slices.Values(v.LocalhostPorts)))
	if len(ports) > 0 {
		p.line("; Ports of this machine, the way out among them.")
	}
	for _, port := range ports {
		p.line(`(allow network-outbound (remote ip "localhost:` + strconv.Itoa(port) + `"))`)
	}
	if len(v.UnixSockets) > 0 {
		p.line("; Sockets that the user's settings name.")
	}
	for _, s := range v.UnixSockets {
		p.line("(allow network-outbound (literal " + p.param(s) + "))")
	}
}
