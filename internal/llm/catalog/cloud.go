package catalog

import (
	"slices"
	"strings"

	"garuda/internal/core"
)

// sectionOf is the table's name for a provider.
func sectionOf(provider string) string {
	if provider == "vertex" {
		return "vertexai"
	}
	return provider
}

// regions are what Bedrock puts before the id of a model that it may run in
// several regions.
var regions = [...]string{"us", "us-gov", "eu", "apac", "jp", "au", "ca", "global"}

// cloud finds a model by the id that Bedrock (eu.anthropic.claude-opus-4-5-20251101-v1:0)
// or Vertex AI (claude-opus-4-5@20251101) has for it. What a model can do is the
// same everywhere; the price is known only where the table has the model for this
// provider and region: a region may cost more.
func cloud(provider, id string) (Entry, bool) {
	section, plain := "vertexai", strings.Replace(id, "@", "-", 1)
	if provider == "bedrock" {
		section, plain = bedrockID(id)
	}
	e, ok := Entry{}, false
	if section != "" {
		e, ok = amongSpellings(section, plain)
	}
	if !ok && strings.HasPrefix(plain, "claude-") {
		for _, s := range []string{"bedrock", "anthropic"} {
			if e, ok = amongSpellings(s, plain); ok {
				e.Price = core.Price{}
				break
			}
		}
	}
	if !ok {
		return Entry{}, false
	}
	e.Provider, e.ID = provider, id
	return e, true
}

// amongSpellings finds the row whose id means the same model.
func amongSpellings(provider, plain string) (Entry, bool) {
	if plain == "" {
		return Entry{}, false
	}
	var same *Entry
	for _, e := range Models(provider) {
		_, id := bedrockID(e.ID)
		if id == plain {
			return e, true
		}
		if same == nil && undated(id) == undated(plain) {
			same = &e
		}
	}
	if same == nil {
		return Entry{}, false
	}
	return *same, true
}

// bedrockID takes region, maker and version off a Bedrock id, and says in which
// section of the table the region's prices stand; "" for a region without.
func bedrockID(id string) (section, plain string) {
	section = "bedrock"
	if region, rest, ok := strings.Cut(id, "."); ok && slices.Contains(regions[:], region) {
		id = rest
		switch region {
		case "us", "global":
		case "eu":
			section = "bedrock-europe"
		default:
			section = ""
		}
	}
	id = strings.TrimPrefix(id, "anthropic.")
	if at := strings.LastIndex(id, "-v"); at > 0 && strings.Trim(id[at+2:], "0123456789:") == "" && at+2 < len(id) {
		id = id[:at]
	}
	return section, id
}
