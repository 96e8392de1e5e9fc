package catalog

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"
)

var update = flag.Bool("update", false, "write models.tsv anew from the catwalk module")

// The embedded table is what the required version of the module says. When it
// is not, run go generate and look at the difference.
func TestTableIsCurrent(t *testing.T) {
	extra, err := os.ReadFile("extra.tsv")
	if err != nil {
		t.Fatal(err)
	}
	want := merge(t, render(embedded.GetAll()), string(extra))
	if *update {
		if err := os.WriteFile("models.tsv", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != table {
		t.Errorf("models.tsv is not what catwalk says; run: go generate ./internal/llm/catalog")
	}
}

// merge puts the rows of extra.tsv into the table. Each must change something: a
// row that the module has by now has to go.
func merge(t *testing.T, table, extra string) string {
	t.Helper()
	provider := ""
	for line := range strings.Lines(extra) {
		cols := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case line[0] == '#':
			continue
		case line[0] == '@':
			provider = cols[0]
			if cols[1] != "-" {
				table += line
			}
			continue
		}
		at := strings.Index(table, "\n"+provider+"\t") + 1
		end := at + strings.Index(table[at:]+"\n@", "\n@") + 1
		end = min(end, len(table))
		section := table[at:end]
		row := "" // the module's
		if i := strings.Index(section, "\n"+cols[0]+"\t"); i >= 0 {
			row, _, _ = strings.Cut(section[i+1:], "\n")
			row += "\n"
		}
		switch {
		case len(cols) == 2 && row != "":
			line = strings.TrimSuffix(row, "\n") + cols[1] + "\n"
		case len(cols) != fields:
			t.Fatalf("extra.tsv: %s: %q has %d columns", provider, line, len(cols))
		}
		if line == row {
			t.Errorf("extra.tsv: %s: %s says what the module says; remove it", provider, cols[0])
		}
		if row != "" {
			section = strings.Replace(section, row, line, 1)
		} else {
			section += line
		}
		table = table[:at] + section + table[end:]
	}
	return table
}

func render(providers []catwalk.Provider) string {
	var b strings.Builder
	b.WriteString("# Code generated from charm.land/catwalk (MIT, Copyright Charmbracelet, Inc.); DO NOT EDIT.\n")
	for _, p := range providers {
		fmt.Fprintf(&b, "@%s\t%s\n", p.ID, p.DefaultLargeModelID)
		for _, m := range p.Models {
			flags := ""
			if m.CanReason {
				flags += "t"
			}
			if m.SupportsImages {
				flags += "i"
			}
			fmt.Fprintf(&b, "%s\t%d\t%d\t%s\t%s\t%s\t\n", m.ID, m.ContextWindow, m.DefaultMaxTokens,
				prices(m), flags, strings.Join(m.ReasoningLevels, ","))
		}
	}
	return b.String()
}

// prices puts catwalk's four prices into the order in, out, cache read, cache
// write. Its two cache columns are filled in three ways: write and read (for
// providers that charge extra for a write), read alone in either column, or
// nothing. A write costs more than plain input and a read less, which tells
// them apart. Where no price for reads is given they cost what input costs, so
// that a sum is never too small. A model that costs nothing is one whose price
// nobody entered, unless its name says that it is free.
func prices(m catwalk.Model) string {
	in, out, a, b := m.CostPer1MIn, m.CostPer1MOut, m.CostPer1MInCached, m.CostPer1MOutCached
	if in == 0 && out == 0 && !strings.HasSuffix(m.ID, ":free") && !strings.HasSuffix(m.ID, "-free") {
		return "\t\t\t"
	}
	read, write := 0.0, in
	for _, p := range []float64{a, b} {
		if p > 0 && p < in {
			read = max(read, p)
		}
	}
	if read == 0 {
		read = in
	}
	if a > in {
		write = a
	}
	var cols []string
	for _, p := range []float64{in, out, read, write} {
		// Some of catwalk's prices went through a multiplication by 1e6.
		cols = append(cols, strconv.FormatFloat(p, 'g', 10, 64))
	}
	return strings.Join(cols, "\t")
}
