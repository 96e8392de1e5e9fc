// Package settings holds the tool config, with which a model looks at Garuda's
// settings and changes the harmless ones for the user.
//
// It changes nothing but the user's own settings file, never what a project, a
// flag or a policy says, and it shows no value that may hold a secret. What gives
// more rights, costs money or runs a command cannot be set with it at all.
package settings

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"garuda/internal/nearest"
	"garuda/internal/tool"
)

//go:embed config.md
var description string

// Setting is one setting as it is in force.
type Setting struct {
	Key string
	// JSON is the value; empty when there is none, and no secret.
	JSON string
	// Type, Meaning and Unit are in words.
	Type, Meaning, Unit string
	Sources             []Source
}

// Source is a place that says something of a setting.
type Source struct {
	Name string
	// BuiltIn is the default; Other is true for what is not the user's own file and
	// may count before or beside it.
	BuiltIn, Other bool
}

// Store keeps the settings.
type Store interface {
	// Settings lists every one, in the order of the documentation.
	Settings() []Setting
	// Check says why a value, as JSON, cannot be a key's.
	Check(key string, value []byte) error
	// Set writes a value into the user's own file.
	Set(key string, value []byte) error
	// CanSet is false where there is no such file.
	CanSet() bool
}

// Options say whose settings the tool is about.
type Options struct {
	Store Store
	// Shown is how a person knows the user's settings file.
	Shown string
	// Redact takes secrets out of what is shown.
	Redact func(string) string
}

type configTool struct{ o Options }

// New makes the tool.
func New(o Options) tool.Tool { return configTool{o} }

type input struct {
	Key   string `json:"key,omitempty" jsonschema:"such as thinking.effort"`
	Value any    `json:"value,omitempty" jsonschema:"to set it"`
}

const schema = `{"type":"object","properties":{"key":{"type":"string","description":"such as thinking.effort"},` +
	`"value":{"description":"to set it"}},"additionalProperties":false}`

func (configTool) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "config", Description: strings.TrimSpace(description),
		// A call that only reads says so in its plan; a rule is for those that set.
		Class: tool.ClassInput, Set: "more", Schema: json.RawMessage(schema),
	}
}

// settable are the keys and groups that can be set.
func settable() []string {
	return []string{"thinking", "notifications", "ui", "todo.enabled", "lsp.enabled", "subagents.enabled", "toolSets"}
}

func canSet(key string) bool {
	// It is a command that runs outside of every question.
	if key == "ui.statusLine" {
		return false
	}
	return slices.ContainsFunc(settable(), func(of string) bool { return key == of || strings.HasPrefix(key, of+".") })
}

// change is a planned change of a setting; its value is JSON.
type change struct {
	key           string
	value, before string
}

func (t configTool) Plan(_ context.Context, _ *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[input](raw)
	if err != nil {
		return nil, err
	}
	in.Key = strings.TrimSpace(in.Key)
	if in.Value == nil {
		if _, err := t.find(in.Key); err != nil {
			return nil, err
		}
		return &tool.Plan{Target: in.Key, Class: tool.ClassRead, ReadOnly: true, Parallel: true, Input: in.Key}, nil
	}
	value, err := json.Marshal(in.Value)
	if err != nil {
		return nil, fmt.Errorf("read the value: %w", err)
	}
	c, err := t.planChange(in.Key, value)
	if err != nil {
		return nil, err
	}
	before := c.before
	if before == "" {
		before = "not set"
	}
	return &tool.Plan{
		Target: c.key, Label: c.key + " = " + c.value, Each: true, Input: c,
		Preview: fmt.Sprintf("%s → %s\nin %s", before, c.value, t.o.Shown),
	}, nil
}

func (t configTool) planChange(key string, value json.RawMessage) (*change, error) {
	if key == "" {
		return nil, errors.New("value without key: say which setting it is for")
	}
	found, err := t.find(key)
	switch {
	case err != nil:
		return nil, err
	case found[0].Key != key:
		return nil, fmt.Errorf("%s is a group; set one of %s", key, strings.Join(names(found), ", "))
	case !canSet(key):
		return nil, fmt.Errorf("%s can be read here but not set, only %s can; tell the user what to write into %s", key, strings.Join(settable(), ", "), t.o.Shown)
	case !t.o.Store.CanSet():
		return nil, errors.New("there is no home folder for settings")
	}
	if err := t.o.Store.Check(key, value); err != nil {
		asText, isText := unquoted(value)
		if !isText || t.o.Store.Check(key, asText) != nil {
			return nil, fmt.Errorf("%s takes %s: %w", key, found[0].Type, err)
		}
		value = asText // "true" and "10" are what they say
	}
	return &change{key: key, value: string(value), before: found[0].JSON}, nil
}

// unquoted is JSON that was sent as a string.
func unquoted(value json.RawMessage) (json.RawMessage, bool) {
	var text string
	if json.Unmarshal(value, &text) != nil || !json.Valid([]byte(text)) {
		return nil, false
	}
	return json.RawMessage(strings.TrimSpace(text)), true
}

func names(values []Setting) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.Key
	}
	return out
}

// find gives the setting of this name, those of a group, or all for "".
func (t configTool) find(key string) ([]Setting, error) {
	all := t.o.Store.Settings()
	var out []Setting
	for _, v := range all {
		if v.Key == key {
			return []Setting{v}, nil
		}
		if key == "" || strings.HasPrefix(v.Key, key+".") {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return nil, unknown(key, names(all))
	}
	return out, nil
}

func unknown(key string, all []string) error {
	groups := groupsOf(all)
	near := nearest.Of(key, append(groups[:len(groups):len(groups)], all...))
	for _, name := range all {
		if near == "" && strings.HasSuffix(name, "."+key) {
			near = name
		}
	}
	if near == "" {
		return fmt.Errorf("there is no setting %q; there are %s", key, strings.Join(groups, ", "))
	}
	return fmt.Errorf("there is no setting %q; did you mean %q?", key, near)
}

// groupsOf are the first words of the names, each once.
func groupsOf(all []string) []string {
	var out []string
	for _, name := range all {
		if group, _, _ := strings.Cut(name, "."); !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	return out
}

func (t configTool) Run(_ context.Context, c *tool.Call) (*tool.Output, error) {
	switch in := c.Plan.Input.(type) {
	case string:
		return t.show(in)
	case *change:
		return t.set(in)
	}
	return nil, tool.ErrOtherPlan
}

func (t configTool) set(c *change) (*tool.Output, error) {
	if err := t.o.Store.Set(c.key, []byte(c.value)); err != nil {
		return nil, err
	}
	found, err := t.find(c.key)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("Set %s to %s in %s. It has effect from the next start of Garuda.", c.key, c.value, t.o.Shown)
	for _, s := range found[0].Sources {
		if s.Other {
			text += fmt.Sprintf(" %s says something of it too, and may count before it.", s.Name)
		}
	}
	if c.key == "toolSets" {
		text += " The sets of all sources add up."
	}
	return &tool.Output{Text: text, Summary: c.key + " = " + c.value}, nil
}

// show lists settings with their values and what they mean; of all of them those
// that were set.
func (t configTool) show(key string) (*tool.Output, error) {
	found, err := t.find(key)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	shown := 0
	for _, v := range found {
		if key == "" && v.Sources[0].BuiltIn {
			continue
		}
		shown++
		t.line(&b, v, key != "")
	}
	if key == "" {
		fmt.Fprintf(&b, "%d of %d settings were set, the others have their built-in values. Groups: %s.", shown, len(found), strings.Join(groupsOf(names(found)), ", "))
	}
	text := t.o.Redact(strings.TrimSuffix(b.String(), "\n"))
	summary := fmt.Sprintf("%d settings", shown)
	if shown == 1 {
		summary = "1 setting"
	}
	return &tool.Output{Text: text, Summary: summary}, nil
}

func (t configTool) line(b *strings.Builder, v Setting, explain bool) {
	value := v.JSON
	if value == "" {
		value = "not set"
	}
	sources := make([]string, len(v.Sources))
	for i, s := range v.Sources {
		sources[i] = s.Name
	}
	fmt.Fprintf(b, "%s: %s (%s)\n", v.Key, value, strings.Join(sources, ", "))
	if !explain {
		return
	}
	fmt.Fprintf(b, "  %s; %s", v.Type, v.Meaning)
	if v.Unit != "" {
		fmt.Fprintf(b, " In %s.", v.Unit)
	}
	if canSet(v.Key) {
		b.WriteString(" Can be set here.")
	}
	b.WriteByte('\n')
}
