package policy

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// guardLine is a line of testdata/guard.tsv.
type guardLine struct{ id, expect, command string }

func guardTable(t *testing.T) []guardLine {
	t.Helper()
	data, err := os.ReadFile("testdata/guard.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []guardLine
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || fields[0] == "id" {
			continue
		}
		var command string
		if len(fields) != 3 || json.Unmarshal([]byte(fields[2]), &command) != nil {
			t.Fatalf("cannot be read: %q", line)
		}
		out = append(out, guardLine{fields[0], fields[1], command})
	}
	return out
}

// TestGuardTable: each entry hits its commands, also with --yolo and a rule for
// everything, lets look-alikes pass, and without the entry its commands are not
// held by it: the negative control.
func TestGuardTable(t *testing.T) {
	const least = 10
	count := map[string]int{}
	table := guardTable(t)
	for _, entry := range guardEntries() {
		only := guardedBy(t, func(g guardEntry) bool { return g.id == entry.id })
		without := guardedBy(t, func(g guardEntry) bool { return g.id != entry.id })
		for _, l := range table {
			if l.id != entry.id {
				continue
			}
			count[l.id+" "+l.expect]++
			d := only.Explain(command(l.command))
			if hit := d.By == byGuard; hit != (l.expect == "hit") {
				t.Errorf("%s must %s %q: %s by %s: %s", l.id, l.expect, l.command, d.Outcome, d.By, d.Reason)
			}
			if d := without.Explain(command(l.command)); d.By == byGuard && strings.Contains(d.Reason, "("+l.id+")") {
				t.Errorf("%q: an entry that is gone holds it: %s", l.command, d.Reason)
			}
		}
	}
	for _, entry := range guardEntries() {
		if count[entry.id+" hit"] < least || count[entry.id+" pass"] < least {
			t.Errorf("%s has %d commands that it hits and %d that it lets pass; it needs %d of each",
				entry.id, count[entry.id+" hit"], count[entry.id+" pass"], least)
		}
	}
}

// guardedBy is an engine of which only these entries of the guard are left.
func guardedBy(t *testing.T, keep func(guardEntry) bool) *Engine {
	t.Helper()
	e := newEngine(t, configure(withYolo, allowing("bash")))
	e.entries = slices.DeleteFunc(guardEntries(), func(g guardEntry) bool { return !keep(g) })
	return e
}
