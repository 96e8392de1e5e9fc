package archtest

import (
	"bytes"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Private finds places where a file's text names a path of this machine or a
// host that packages come from. What those are is handed in: it is read from the
// tools' own configuration when the test runs, and stands nowhere in the sources.
func Private(name string, text []byte, paths, hosts []string) []Offence {
	if bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
		return nil // not text
	}
	var out []Offence
	note := func(offset int, what, why string) {
		line := 1 + bytes.Count(text[:offset], []byte("\n"))
		out = append(out, Offence{[]string{name, what}, fmt.Sprintf("%s:%d", name, line), why})
	}
	for _, p := range paths {
		for _, at := range wholeWord(text, p) {
			note(at, p, "a path of the machine this was written on")
		}
	}
	for _, h := range hosts {
		for _, at := range wholeWord(text, h) {
			note(at, h, "a host that packages come from; mirrors differ, so the tools' configuration says it")
		}
	}
	return out
}

// wholeWord finds word where no longer path or name holds it.
func wholeWord(text []byte, word string) []int {
	var out []int
	part := func(c byte) bool {
		return c == '.' || c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(word))
		if i < 0 {
			return out
		}
		start, end := from+i, from+i+len(word)
		from = end
		if start > 0 && part(text[start-1]) || end < len(text) && part(text[end]) && text[end] != '.' {
			continue
		}
		out = append(out, start)
	}
}

// Paths keeps those that could only stand in a file because someone copied them
// from this machine: absolute, of two parts at least, and not where every system
// keeps its own files.
func Paths(candidates []string) []string {
	var out []string
	for _, p := range candidates {
		p = filepath.ToSlash(strings.TrimSpace(p))
		ordinary := []string{"/usr/local", "/usr/lib", "/usr/share", "/home/user", "/var/lib", "/var/cache"}
		if strings.Count(strings.TrimPrefix(p, "/"), "/") < 1 || !filepath.IsAbs(p) || slices.Contains(ordinary, p) {
			continue
		}
		out = append(out, strings.TrimRight(p, "/"))
	}
	return out
}

// Hosts finds the hosts in a tool's configuration: of URLs, and of bare names as
// GOSUMDB has them. This machine itself is none.
func Hosts(configuration string) []string {
	var out []string
	for _, field := range strings.FieldsFunc(configuration, func(r rune) bool { return strings.ContainsRune(", |\t\r\n\"'", r) }) {
		host := field
		if u, err := url.Parse(field); err == nil && u.Host != "" {
			host = u.Hostname()
		} else {
			host, _, _ = strings.Cut(host, "+")
		}
		name := regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}$`)
		if name.MatchString(host) && !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	return out
}
