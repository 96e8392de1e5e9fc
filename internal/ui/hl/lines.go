package hl

import (
	"strings"

	"garuda/internal/ui/styled"
)

// The roles of the tables' own constructs.
const (
	stringRole  = styled.String
	keywordRole = styled.Keyword
	codeRole    = styled.InlineCode
)

func whole(role styled.Role, text string) (styled.Line, bool) {
	return styled.Text(role, text), true
}

// diffLine colours a line of a unified diff by how it begins.
func diffLine(text string) (styled.Line, bool) {
	switch {
	case strings.HasPrefix(text, "@@"):
		return whole(styled.Accent, text)
	case strings.HasPrefix(text, "+++ "), strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "diff "), strings.HasPrefix(text, "index "):
		return whole(styled.Muted, text)
	case strings.HasPrefix(text, "+"):
		return whole(styled.Added, text)
	case strings.HasPrefix(text, "-"):
		return whole(styled.Removed, text)
	}
	return whole(styled.Plain, text)
}

// section colours the headings of ini and TOML files.
func section(text string) (styled.Line, bool) {
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]") {
		return whole(styled.Heading, text)
	}
	return nil, false
}

// yamlLine colours the marks between documents.
func yamlLine(text string) (styled.Line, bool) {
	if text == "---" || text == "..." {
		return whole(styled.Rule, text)
	}
	return nil, false
}

// markdownLine colours headings, quotes and the marks of lists.
func markdownLine(text string) (styled.Line, bool) {
	t := strings.TrimLeft(text, " ")
	indent := text[:len(text)-len(t)]
	switch {
	case strings.HasPrefix(t, "#"):
		return whole(styled.Heading, text)
	case strings.HasPrefix(t, ">"):
		return whole(styled.Quote, text)
	case strings.HasPrefix(t, "- "), strings.HasPrefix(t, "* "), strings.HasPrefix(t, "+ "):
		return styled.Text(styled.Plain, indent).Join(styled.Text(styled.Accent, t[:1])).Join(styled.Text(styled.Plain, t[1:])), true
	}
	return nil, false
}
