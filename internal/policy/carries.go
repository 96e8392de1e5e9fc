package policy

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"garuda/internal/tool"
)

// An address that is longer than this, or in part, may carry data out to whoever
// reads it; see page 03's row 10. In characters.
const (
	maxURL, maxToken, maxLabel, maxHost = 300, 64, 32, 100
)

// carriesOut says why an address that the call would ask for looks as if it carried
// data out, or "". Such a call is asked about whatever allows it.
func (s *situation) carriesOut() string {
	urls := s.plan.Effects.URLs
	if s.class == tool.ClassURL && len(urls) == 0 {
		urls = []string{s.plan.Target}
	}
	for _, u := range urls {
		if why := carries(u); why != "" {
			return why
		}
	}
	for _, h := range s.plan.Effects.Hosts {
		if why := longHost(h); why != "" {
			return why
		}
	}
	return ""
}

func carries(text string) string {
	if utf8.RuneCountInString(text) > maxURL {
		return fmt.Sprintf("it has more than %d characters", maxURL)
	}
	u, err := url.Parse(text)
	if err != nil {
		return "it cannot be read as an address"
	}
	if why := longHost(u.Hostname()); why != "" {
		return why
	}
	// What is escaped counts as it is sent, and as what it stands for.
	for _, part := range []string{u.EscapedPath(), u.Path, u.RawQuery, unescaped(u.RawQuery), u.EscapedFragment()} {
		for _, token := range strings.FieldsFunc(part, between) {
			if utf8.RuneCountInString(token) >= maxToken {
				return fmt.Sprintf("a part of it has %d characters or more", maxToken)
			}
		}
	}
	return ""
}

// between tells what stands between the tokens of a path or a query.
func between(r rune) bool { return strings.ContainsRune("/?&=;,+ ", r) }

func unescaped(query string) string {
	text, err := url.QueryUnescape(query)
	if err != nil {
		return ""
	}
	return text
}

func longHost(host string) string {
	if utf8.RuneCountInString(host) >= maxHost {
		return fmt.Sprintf("its host has %d characters or more", maxHost)
	}
	for label := range strings.SplitSeq(host, ".") {
		if utf8.RuneCountInString(label) >= maxLabel {
			return fmt.Sprintf("a part of its host has %d characters or more", maxLabel)
		}
	}
	return ""
}
