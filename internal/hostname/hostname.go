// Package hostname brings names of hosts into one form, and matches them with
// patterns. Whatever compares a host with a list takes the name from here, so
// that no spelling of a name gets past an entry that names it.
//
// It resolves nothing and connects to nothing, and it takes no addresses: an
// address in any spelling is no name.
package hostname

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// The limits of the domain name system, in bytes.
const (
	maxName  = 253
	maxLabel = 63
)

// ErrAddress says that a name is an address, in whatever spelling.
var ErrAddress = errors.New("it is an address; only names are let out")

// Normalise is the one form of a host's name: lower case, IDNA's ASCII form, no
// dot at its end. It refuses what is no name of a host, and every spelling of an
// IP address (127.0.0.1, 2130706433, 0x7f.1, 0177.0.0.1, [::1], fe80::1%eth0),
// for which the error wraps ErrAddress. The error does not repeat the name.
func Normalise(name string) (string, error) {
	if len(name) > 4*maxName || !utf8.ValidString(name) {
		return "", errors.New("it is too long, or not UTF-8")
	}
	if strings.ContainsAny(name, ":[]%") {
		if strings.Count(name, ":") > 1 || strings.ContainsAny(name, "[]") {
			return "", ErrAddress
		}
		return "", errors.New("a name holds neither ports nor escapes")
	}
	name, err := ascii(name)
	if err != nil {
		return "", err
	}
	name = strings.TrimSuffix(name, ".")
	if len(name) > maxName {
		return "", fmt.Errorf("it is longer than %d bytes", maxName)
	}
	for label := range strings.SplitSeq(name, ".") {
		if err := checkLabel(label); err != nil {
			return "", err
		}
	}
	if endsInNumber(name) {
		return "", ErrAddress
	}
	return name, nil
}

// ascii lowers a name and maps what is not ASCII, dots and digits of other
// scripts among it, as browsers do (UTS 46 without transitional forms).
func ascii(name string) (string, error) {
	plain := strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	if plain {
		name = strings.ToLower(name)
		if !strings.Contains(name, "xn--") {
			return name, nil
		}
	}
	// Letters, digits and hyphens are checked by checkLabel, which lets the
	// underscore pass.
	profile := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false),
		idna.StrictDomainName(false), idna.CheckHyphens(false), idna.CheckJoiners(true))
	mapped, err := profile.ToASCII(name)
	if err != nil {
		return "", errors.New("it is no name that IDNA allows")
	}
	return mapped, nil
}

func checkLabel(label string) error {
	if label == "" {
		return errors.New("it has an empty part")
	}
	if len(label) > maxLabel {
		return fmt.Errorf("it has a part longer than %d bytes", maxLabel)
	}
	if label[0] == '-' || label[len(label)-1] == '-' {
		return errors.New("a part of it begins or ends with a hyphen")
	}
	for i := range len(label) {
		switch c := label[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return errors.New("names hold letters, digits, hyphens and underscores only")
		}
	}
	return nil
}

// endsInNumber reports whether programs would read the name as an IPv4 address:
// its last part is a number, decimal, octal or hexadecimal. No top-level domain
// is one.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// Pattern is a host, or all subdomains of one. The zero Pattern matches nothing.
type Pattern struct {
	// host is a normalised name. With sub, the names below it are meant and it is
	// not; with sub and no host, every name.
	host string
	sub  bool
}

// ParsePattern reads a host (example.com), its subdomains without itself
// (*.example.com), or * for every host. It takes no scheme, port or path.
func ParsePattern(text string) (Pattern, error) {
	text = strings.TrimSpace(text)
	if text == "*" {
		return Pattern{sub: true}, nil
	}
	rest, sub := strings.CutPrefix(text, "*.")
	host, err := Normalise(rest)
	if err != nil {
		return Pattern{}, fmt.Errorf("%q is no host: %w; write example.com or *.example.com, without scheme, port or path", text, err)
	}
	return Pattern{host, sub}, nil
}

// Match reports whether a normalised name is one of the pattern's.
func (p Pattern) Match(name string) bool {
	switch {
	case name == "":
		return false
	case !p.sub:
		return name == p.host
	case p.host == "":
		return true
	}
	below, ok := strings.CutSuffix(name, p.host)
	return ok && len(below) > 1 && below[len(below)-1] == '.'
}

// Any reports whether the pattern is *.
func (p Pattern) Any() bool { return p.sub && p.host == "" }

// String is the pattern as it would be written, in its one form.
func (p Pattern) String() string {
	switch {
	case p.Any():
		return "*"
	case p.sub:
		return "*." + p.host
	}
	return p.host
}
