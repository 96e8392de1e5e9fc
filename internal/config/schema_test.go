package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSchemaAndLoaderAgree draws files, right and spoilt, and wants the schema to
// accept what the loader accepts.
func TestSchemaAndLoaderAgree(t *testing.T) {
	schema := resolved(t)
	verdicts := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		file := any(validFile(t, 6))
		if rapid.Bool().Draw(t, "spoil") {
			file = spoil(t, file)
		}
		text := encode(file)
		var instance any
		if err := json.Unmarshal([]byte(text), &instance); err != nil {
			t.Fatal(err)
		}
		bySchema := schema.Validate(instance)
		_, _, byLoader := decode([]byte(text), Source{User, "f"})
		if (bySchema == nil) != (byLoader == nil) {
			t.Fatalf("schema: %v\nloader: %v\n%s", bySchema, byLoader, text)
		}
		verdicts[byLoader == nil]++
	})
	if verdicts[true] == 0 || verdicts[false] == 0 {
		t.Errorf("only one kind of file was tried: %v", verdicts)
	}
}

// spoil puts a stray value, or a stray name, somewhere into the file.
func spoil(t *rapid.T, v any) any {
	if object, ok := v.(map[string]any); ok && len(object) > 0 && rapid.IntRange(0, 3).Draw(t, "deeper") > 0 {
		var names []string
		for _, k := range table() {
			for _, part := range strings.Split(k.Name, ".") {
				if _, ok := object[part]; ok {
					names = append(names, part)
				}
			}
		}
		if len(names) > 0 {
			name := rapid.SampledFrom(names).Draw(t, "name")
			object[name] = spoil(t, object[name])
			return object
		}
		object["stray"] = 1
		return object
	}
	return rapid.SampledFrom([]any{nil, true, -1.0, 0.0, 1.5, 3.0, 1e15, "", "plan", "a\nb", []any{}, []any{nil}, map[string]any{}, map[string]any{"x": 1}}).Draw(t, "stray value")
}

func TestTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range table() {
		if seen[k.Name] {
			t.Errorf("%s stands twice", k.Name)
		}
		seen[k.Name] = true
		if k.Meaning == "" || !strings.HasSuffix(k.Meaning, ".") || k.Type == "" || k.Scope == "" {
			t.Errorf("%s is described badly: %+v", k.Name, k)
		}
		if k.Default != "" && !json.Valid([]byte(k.Default)) {
			t.Errorf("the default of %s is not JSON: %s", k.Name, k.Default)
		}
		for group := range groups() {
			if group == k.Name {
				t.Errorf("%s is a key and holds keys", group)
			}
		}
	}
	// One of each line of the product's table, and the whole count.
	for _, name := range strings.Fields(`model subagents.model toolSets modelInfo.contextWindow modelInfo.maxTokens
		modelInfo.price.input modelInfo.price.output modelInfo.price.cacheRead modelInfo.price.cacheWrite mode executor profile
		sandbox.writePaths sandbox.denyRead sandbox.allowUnixSockets sandbox.allowLocalhostPorts sandbox.limits.processes
		sandbox.limits.memoryMB sandbox.limits.fileMB permissions.allow permissions.ask permissions.deny guard.rm-root guard.publish
		env.allow network.allow network.ports web.enabled web.allowLocalhost limits.maxSteps limits.tokenBudget limits.spendUsd
		limits.commandTimeoutMs subagents.enabled subagents.maxSteps subagents.tokenBudget moe.enabled moe.maxSteps moe.tokenBudget
		daemons.enabled skills.enabled agents.enabled commands.enabled hooks.enabled mcp.enabled undo.enabled codeIndex todo.enabled
		lsp.enabled formatters.enabled formatters.commands shell.mode thinking.enabled thinking.effort thinking.show thinking.keepBlocks
		notifications.channel notifications.afterSeconds ui.theme ui.vim ui.statusLine ui.details jobs.databaseUrl jobs.triggers
		jobs.triggerSocket audit.enabled audit.level audit.checkpoint telemetry`) {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if len(seen) != 86 {
		t.Errorf("%d keys; the list of this test and docs/settings.md have 86", len(seen))
	}
}

// TestExampleInTheDocumentLoads reads the settings that docs/settings.md shows.
func TestExampleInTheDocumentLoads(t *testing.T) {
	_, rest, _ := strings.Cut(Markdown(), "```jsonc\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no example")
	}
	if _, _, err := decode([]byte(example), Source{User, "docs/settings.md"}); err != nil {
		t.Error(err)
	}
}
