package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"garuda/internal/jsonc"
)

// newAnswers is what the user's file for a project begins with.
const newAnswers = `// Your own answers for one project ("always in this project").
{
  "permissions": {
    "allow": [
    ],
  },
}
`

// AddProjectRule writes an allow rule into the user's own settings for the project
// at root (its real path). Comments and layout of the file stay; a rule that stands
// there already is not written again. The file is replaced in one step, readable by
// its owner only, and other processes that add rules wait. It takes effect on the
// next Load. Of r, Text and Files count; a rule of the same text that is bound to
// other states of its files gives way to it.
func AddProjectRule(home, root string, r Rule) error {
	path := UserProjectFile(home, root)
	if err := addRule(path, r); err != nil {
		return fmt.Errorf("add the rule %s to %s: %w", jsonc.Quote(r.Text), path, err)
	}
	return nil
}

func addRule(path string, r Rule) error {
	if !filepath.IsAbs(path) {
		return errors.New("there is no home folder to keep it in")
	}
	if _, err := rule().parse(r.Text); err != nil {
		return err
	}
	return Edit(path, func(before []byte) ([]byte, error) {
		if before == nil {
			before = []byte(newAnswers)
		}
		return withRule(before, r)
	})
}

// withRule returns the file's text with one more allow rule in it.
func withRule(file []byte, add Rule) ([]byte, error) {
	source := Source{Kind: UserProject, Name: "for this project"}
	// Only a file that loads is changed, and it must still load afterwards.
	found, _, err := decode(file, source)
	if err != nil {
		return nil, err
	}
	s := Defaults()
	for _, e := range found {
		e.change.set(s, source)
	}
	for _, r := range s.Permissions.Allow {
		if r.Text == add.Text && (r.Files == nil) == (add.Files == nil) && maps.Equal(r.Files, add.Files) {
			return file, nil
		}
	}
	d, err := parse(file, source)
	if err != nil {
		return nil, err
	}
	rules := child(child(&d.Root, "permissions", 1, &hujson.Object{}), "allow", 2, &hujson.Array{})
	array, ok := rules.Value.(*hujson.Array)
	if !ok {
		return nil, d.Mistyped(rules, "a list")
	}
	dropBound(d, array, add.Text)
	element, err := ruleElement(add)
	if err != nil {
		return nil, err
	}
	appendElement(array, element)
	out := d.Root.Pack()
	if _, _, err := decode(out, source); err != nil {
		return nil, err
	}
	return out, nil
}

// child returns the member of an object, which it adds when it is not there.
func child(of *hujson.Value, name string, depth int, empty hujson.ValueTrimmed) *hujson.Value {
	object, ok := of.Value.(*hujson.Object)
	if !ok {
		return of
	}
	for i := range object.Members {
		if lit, ok := object.Members[i].Name.Value.(hujson.Literal); ok && lit.String() == name {
			return &object.Members[i].Value
		}
	}
	before, after := lineBreaks(object.AfterExtra, depth)
	object.AfterExtra = after
	m := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: before, Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: empty, AfterExtra: hujson.Extra{}},
	}
	object.Members = append(object.Members, m)
	return &object.Members[len(object.Members)-1].Value
}

// dropBound takes out rules of this text that hold for certain states of files: the
// person has now said yes to another state, or to all.
func dropBound(d *document, array *hujson.Array, text string) {
	array.Elements = slices.DeleteFunc(array.Elements, func(v hujson.Value) bool {
		r, err := rule().decode(d, &v)
		return err == nil && r.Text == text && len(r.Files) > 0
	})
}

// ruleElement is a rule as it stands in a list.
func ruleElement(r Rule) (hujson.ValueTrimmed, error) {
	if r.Files == nil {
		return hujson.String(r.Text), nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(showRule(Rule{Text: r.Text, Files: r.Files})); err != nil {
		return nil, err
	}
	v, err := hujson.Parse(text.Bytes())
	if err != nil {
		return nil, err
	}
	v.Format()
	return v.Value, nil
}

func appendElement(array *hujson.Array, element hujson.ValueTrimmed) {
	before, after := lineBreaks(array.AfterExtra, 3)
	array.AfterExtra = after
	array.Elements = append(array.Elements, hujson.Value{
		BeforeExtra: before, Value: element, AfterExtra: hujson.Extra{},
	})
}

// lineBreaks divides what stands before a closing bracket around a new last
// element: comments stay in front of it, and the bracket goes on a line of its own.
func lineBreaks(extra hujson.Extra, depth int) (before, after hujson.Extra) {
	kept := strings.TrimRight(string(extra), " \t\r\n")
	before = hujson.Extra(kept + "\n" + strings.Repeat("  ", depth))
	after = hujson.Extra("\n" + strings.Repeat("  ", depth-1))
	return before, after
}
