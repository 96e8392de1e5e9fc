package config

import (
	"fmt"
	"strings"
)

// Markdown is docs/settings.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(`# Settings

<!-- Made from internal/config/keys.go by "make generate"; edits here are lost. -->

Settings are JSON with comments and trailing commas. An unknown key, a wrong type and
a broken file are errors that name the file, the line and the column; a missing file
gives the defaults. ` + "`garuda schema settings`" + ` prints a JSON Schema that editors understand.

Sources, in this order; a later one wins for a single value, lists add up:

1. what is built in
2. ` + "`.garuda/settings.json`" + ` in the project, as far as the table below lets it
3. ` + "`~/.garuda/settings.json`" + `
4. ` + "`~/.garuda/projects/<8 hex digits of the root>/settings.json`" + `: your own answers for one
   project ("always in this project"), kept outside it
5. ` + "`--settings FILE`" + `
6. flags

` + "`GARUDA_HOME`" + ` takes the place of ` + "`~/.garuda`" + `. A path that begins with ` + "`~/`" + ` starts at the home
folder, another relative one at the project's root.

## What a project may set

A project's file comes from whoever wrote the project, so it is not trusted: whatever it
says, Garuda never asks less or reaches further than without it, but for the keys
marked "freely".

| word | meaning |
| --- | --- |
| freely | the project's value counts as it is |
| stricter | it counts where it is stricter than the built-in value |
| pinned | it is left out until you say yes to exactly this value: the chat asks at its start (this time, remember, no), and keeps what you remember in ~/.garuda/trust.json. Without a terminal it stays left out, with a notice, unless you remembered it |
| not | it is left out with a notice |

## Keys

| key | type | default | project | meaning |
| --- | --- | --- | --- | --- |
`)
	for _, k := range table() {
		meaning := k.Meaning
		if k.Unit != "" {
			meaning += " In " + k.Unit + "."
		}
		def := ""
		if k.Default != "" {
			def = "`" + k.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Name, cell(k.Type), def, k.Scope, cell(meaning))
	}
	b.WriteString(`
Garuda knows every key of this table. Those of features that this version does not have
are checked and have no effect yet.

## Permission rules

A rule is ` + "`tool`" + ` or ` + "`tool(pattern)`" + `, or an object that carries examples which must hold:

` + "```jsonc" + `
{
  "permissions": {
    "allow": [
      "bash(go test *)",
      {
        "rule": "bash(npm run *)",
        "match": ["npm run build"],
        "notMatch": ["npm run build && rm x"],
      },
    ],
    "deny": ["read_file(secrets/**)"],
  },
}
` + "```" + `
`)
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
