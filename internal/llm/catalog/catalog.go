// Package catalog knows the models that providers offer: context windows,
// output limits, prices and whether they can think. Its table is generated from
// charm.land/catwalk and from extra.tsv, what that module lacks, and embedded as
// text; a look-up searches that text, so that nothing is parsed at start and an
// unused catalogue costs no memory.
//
// It never asks the network and never guesses: what is not in the table is
// unknown.
package catalog

import (
	_ "embed"
	"strconv"
	"strings"

	"garuda/internal/core"
)

//go:generate go test -run TestTableIsCurrent -update .

// table holds a section for each provider. A section begins with
//
//	@provider <TAB> default model
//
// and has a line for each model:
//
//	id, window, output limit, USD per million tokens in, out, cache read, cache write, flags, efforts, long prompts
//
// separated by tabs. Both limits are in tokens, 0 where unknown; the four
// prices are empty where nobody knows. Flags are t (thinks) and i (sees
// images). Efforts are the provider's words for how hard to think, joined by
// commas. Long prompts are 200000*2*1.5: above so many tokens of input, so many
// times the price of input and of output.
//
//go:embed models.tsv
var table string

// AnthropicSearch is what one web search that Anthropic runs costs, in US dollars.
const AnthropicSearch = 0.01

// searchPrice is what one search that the provider runs costs: for Gemini beyond
// those that are free, by the query, before the third generation by the answer.
func searchPrice(provider, id string) float64 {
	switch {
	case provider == "anthropic":
		return AnthropicSearch
	case provider == "gemini" && strings.HasPrefix(id, "gemini-2"):
		return 0.035
	case provider == "gemini":
		return 0.014
	}
	return 0
}

// Entry is what is known of one model.
type Entry struct {
	Provider, ID string
	// ContextWindow and MaxOutput are in tokens; 0 is unknown.
	ContextWindow, MaxOutput int
	Price                    core.Price
	Thinks, Images           bool
	// Efforts are the levels of thinking that the provider takes for this
	// model, lowest first, in its own words; empty when it has none.
	Efforts []string
}

// Lookup finds a model by the provider's name and the provider's own id. A
// dated snapshot (gpt-4o-2024-08-06, claude-sonnet-4-5-20250929) and the name
// without the date stand for each other, unless both are listed. Nothing else of
// an id is taken to be the same: gpt-5 says nothing of gpt-5-turbo. The ids of
// Bedrock and Vertex AI (provider bedrock, vertex) are known in all their spellings.
func Lookup(provider, id string) (Entry, bool) {
	if provider == "bedrock" || provider == "vertex" {
		return cloud(provider, id)
	}
	return lookup(provider, id)
}

func lookup(provider, id string) (Entry, bool) {
	body, ok := section(provider)
	if !ok || id == "" || strings.ContainsAny(id, "\t\n") {
		return Entry{}, false
	}
	if i := strings.Index(body, "\n"+id+"\t"); i >= 0 {
		line, _, _ := strings.Cut(body[i+1:], "\n")
		return parse(provider, line)
	}
	name := undated(id)
	for line := range strings.SplitSeq(body, "\n") {
		known, _, ok := strings.Cut(line, "\t")
		if ok && !strings.HasPrefix(line, "@") && undated(known) == name {
			e, ok := parse(provider, line)
			e.ID = id
			return e, ok
		}
	}
	return Entry{}, false
}

// Models lists what a provider offers, in the catalogue's order; nil for one
// that the catalogue does not know.
func Models(provider string) []Entry {
	body, ok := section(sectionOf(provider))
	if !ok {
		return nil
	}
	var out []Entry
	for line := range strings.SplitSeq(body, "\n") {
		if e, ok := parse(provider, line); ok {
			out = append(out, e)
		}
	}
	return out
}

// Default is the model to take when the user named none.
func Default(provider string) (id string, ok bool) {
	body, ok := section(sectionOf(provider))
	if !ok {
		return "", false
	}
	head, _, _ := strings.Cut(body, "\n")
	_, id, _ = strings.Cut(head, "\t")
	return id, id != ""
}

// section returns the text from the provider's @ line to the next one.
func section(provider string) (string, bool) {
	if provider == "" || strings.ContainsAny(provider, "\t\n") {
		return "", false
	}
	i := strings.Index(table, "\n@"+provider+"\t")
	if i < 0 {
		return "", false
	}
	body := table[i+1:]
	if end := strings.Index(body, "\n@"); end >= 0 {
		body = body[:end+1]
	}
	return body, true
}

// fields is the number of columns of a model's line.
const fields = 10

func parse(provider, line string) (Entry, bool) {
	f := strings.Split(line, "\t")
	if len(f) != fields {
		return Entry{}, false
	}
	e := Entry{Provider: provider, ID: f[0], Thinks: strings.Contains(f[7], "t"), Images: strings.Contains(f[7], "i")}
	// A test reads every line of the table, so a number that does not parse
	// cannot be in it; it would read as unknown.
	e.ContextWindow, _ = strconv.Atoi(f[1])
	e.MaxOutput, _ = strconv.Atoi(f[2])
	if f[3] != "" {
		e.Price.Known = true
		for i, p := range []*float64{&e.Price.Input, &e.Price.Output, &e.Price.CacheRead, &e.Price.CacheWrite} {
			*p, _ = strconv.ParseFloat(f[3+i], 64)
		}
	}
	if f[8] != "" {
		e.Efforts = strings.Split(f[8], ",")
	}
	if long := strings.Split(f[9], "*"); len(long) == 3 {
		e.Price.LongOver, _ = strconv.Atoi(long[0])
		e.Price.LongInput, _ = strconv.ParseFloat(long[1], 64)
		e.Price.LongOutput, _ = strconv.ParseFloat(long[2], 64)
	}
	if e.Price.Known {
		e.Price.Search = searchPrice(provider, e.ID)
	}
	return e, true
}

// undated takes the date of a snapshot, -YYYYMMDD or -YYYY-MM-DD, off a model's id.
func undated(id string) string {
	for _, form := range []string{"-00000000", "-0000-00-00"} {
		at := len(id) - len(form)
		if at <= 0 {
			continue
		}
		ok := strings.HasPrefix(id[at:], "-20")
		for i := range len(form) {
			c := id[at+i]
			ok = ok && (form[i] == '-' && c == '-' || form[i] == '0' && '0' <= c && c <= '9')
		}
		if ok {
			return id[:at]
		}
	}
	return id
}
