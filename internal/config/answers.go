package config

import (
	"errors"
	"fmt"
	"path/filepath"
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
// next Load.
func AddProjectRule(home, root, text string) error {
	path := UserProjectFile(home, root)
	if err := addRule(path, text); err != nil {
		return fmt.Errorf("add the rule %s to %s: %w", jsonc.Quote(text), path, err)
	}
	return nil
}

func addRule(path, text string) error {
	if !filepath.IsAbs(path) {
		return errors.New("there is no home folder to keep it in")
	}
	if _, err := rule().parse(text); err != nil {
		return err
	}
	return Edit(path, func(before []byte) ([]byte, error) {
		if before == nil {
			before = []byte(newAnswers)
		}
		return withRule(before, text)
	})
}

// withRule returns the file's text with one more allow rule in it.
func withRule(file []byte, text string) ([]byte, error) {
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
		if r.Text == text && r.Files == nil {
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
	appendElement(array, text)
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

func appendElement(array *hujson.Array, text string) {
	before, after := lineBreaks(array.AfterExtra, 3)
	array.AfterExtra = after
	array.Elements = append(array.Elements, hujson.Value{
		BeforeExtra: before, Value: hujson.String(text), AfterExtra: hujson.Extra{},
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
