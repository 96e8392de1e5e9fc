package seatbelt_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// list is a form of the profile's language: an atom when items is nil.
type list struct {
	atom  string
	items []list
}

// parse reads a whole profile. It knows comments, atoms, strings with escapes
// and raw strings, and fails where a form does not end.
func parse(text string) ([]list, error) {
	r := &reader{rest: text}
	var forms []list
	for {
		r.space()
		if r.rest == "" {
			return forms, nil
		}
		f, err := r.form()
		if err != nil {
			return nil, err
		}
		forms = append(forms, f)
	}
}

type reader struct{ rest string }

func (r *reader) space() {
	for {
		r.rest = strings.TrimLeft(r.rest, " \n\t")
		if !strings.HasPrefix(r.rest, ";") {
			return
		}
		_, r.rest, _ = strings.Cut(r.rest, "\n")
	}
}

func (r *reader) form() (list, error) {
	switch {
	case strings.HasPrefix(r.rest, "("):
		r.rest = r.rest[1:]
		out := list{items: []list{}}
		for {
			r.space()
			if r.rest == "" {
				return list{}, fmt.Errorf("a form does not end")
			}
			if r.rest[0] == ')' {
				r.rest = r.rest[1:]
				return out, nil
			}
			f, err := r.form()
			if err != nil {
				return list{}, err
			}
			out.items = append(out.items, f)
		}
	case strings.HasPrefix(r.rest, `#"`), strings.HasPrefix(r.rest, `"`):
		raw := r.rest[0] == '#'
		r.rest = strings.TrimPrefix(strings.TrimPrefix(r.rest, "#"), `"`)
		text, rest, ok := strings.Cut(r.rest, `"`)
		if !ok || !raw && strings.Contains(text, `\`) {
			return list{}, fmt.Errorf("a string that does not end, or escapes: %q", text)
		}
		r.rest = rest
		return list{atom: text}, nil
	}
	end := strings.IndexAny(r.rest, " \n\t()\";")
	if end <= 0 {
		return list{}, fmt.Errorf("no atom at %q", r.rest)
	}
	atom := r.rest[:end]
	r.rest = r.rest[end:]
	return list{atom: atom}, nil
}

// judge answers as the kernel would: the last rule that matches counts.
type judge struct {
	rules    []list
	params   map[string]string
	patterns map[string]*regexp.Regexp
}

func newJudge(text string, params []string) (*judge, error) {
	rules, err := parse(text)
	if err != nil {
		return nil, err
	}
	j := &judge{rules: rules, params: map[string]string{}, patterns: map[string]*regexp.Regexp{}}
	for _, p := range params {
		name, value, ok := strings.Cut(p, "=")
		if _, twice := j.params[name]; !ok || twice {
			return nil, fmt.Errorf("the parameter %q", p)
		}
		j.params[name] = value
	}
	return j, nil
}

// allows reports whether an operation on a path is allowed.
func (j *judge) allows(operation, path string) (bool, error) {
	allowed := false
	for _, r := range j.rules {
		if len(r.items) == 0 {
			return false, fmt.Errorf("not a rule: %+v", r)
		}
		switch r.items[0].atom {
		case "version":
			continue
		case "allow", "deny":
		default:
			return false, fmt.Errorf("not a rule: %+v", r)
		}
		matches, err := j.matches(r.items[1:], operation, path)
		if err != nil {
			return false, err
		}
		if matches {
			allowed = r.items[0].atom == "allow"
		}
	}
	return allowed, nil
}

// matches: operations come first, then filters, of which one is enough.
func (j *judge) matches(items []list, operation, path string) (bool, error) {
	named, filtered, held := false, false, false
	for _, it := range items {
		if it.items != nil && !named {
			return false, nil
		}
		if it.items == nil {
			named = named || covers(it.atom, operation)
			continue
		}
		filtered = true
		ok, err := j.filter(it, path)
		if err != nil {
			return false, err
		}
		held = held || ok
	}
	return named && (held || !filtered), nil
}

func covers(rule, operation string) bool {
	family, wide := strings.CutSuffix(rule, "*")
	return rule == "default" || rule == operation || wide && strings.HasPrefix(operation, family)
}

func (j *judge) filter(f list, path string) (bool, error) {
	kind := f.items[0].atom
	if !slices.Contains([]string{"literal", "subpath", "regex"}, kind) {
		return false, nil // of other operations than those on files
	}
	if len(f.items) != 2 {
		return false, fmt.Errorf("a filter with more than one value: %+v", f)
	}
	value := f.items[1].atom
	if p := f.items[1].items; p != nil {
		var ok bool
		if value, ok = j.params[p[1].atom]; !ok || len(p) != 2 || p[0].atom != "param" {
			return false, fmt.Errorf("the parameter %+v is not given", p)
		}
	}
	switch kind {
	case "literal":
		return path == value, nil
	case "subpath":
		return path == value || strings.HasPrefix(path, strings.TrimSuffix(value, "/")+"/"), nil
	}
	if j.patterns[value] == nil {
		pattern, err := regexp.Compile("(?s)" + value)
		if err != nil {
			return false, err
		}
		j.patterns[value] = pattern
	}
	return j.patterns[value].MatchString(path), nil
}
