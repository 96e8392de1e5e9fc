package modelserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Requests returns copies of the model requests so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.requests))
	for i, q := range s.requests {
		out[i] = *q
	}
	return out
}

// Gaps returns, for each request but the first, the time from the end of the
// response before it to its own arrival: what the client took for a step.
func (s *Server) Gaps() []time.Duration {
	var out []time.Duration
	requests := s.Requests()
	for i := 1; i < len(requests); i++ {
		out = append(out, requests[i].Arrived.Sub(requests[i-1].Responded))
	}
	return out
}

// Median returns the middle of durations; 0 of none.
func Median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}

// Break is a place where a request was not its predecessor with new messages at
// the end.
type Break struct {
	// Request is the later request's number.
	Request int
	// Segment is what differs: system, tools, tools[2], messages, messages[5].
	Segment  string
	Old, New string
}

func (b Break) String() string {
	return fmt.Sprintf("request %d: %s changed\n old: %s\n new: %s", b.Request, b.Segment, b.Old, b.New)
}

// Breaks returns every place where a request did not continue the one of its
// format before it: the serialised system prompt, each tool and each message
// byte-equal, cache marks aside, and only new messages after them; see Loads for
// the one thing that may be added to the tools. Empty means that every prefix was
// stable.
func (s *Server) Breaks() []Break {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.breaks)
}

// Prefix compares two request bodies of one format in the same way; nil when
// next continues prev.
func Prefix(format string, prev, next []byte) (*Break, error) {
	a, err := split(format, prev)
	if err != nil {
		return nil, fmt.Errorf("the earlier request: %w", err)
	}
	b, err := split(format, next)
	if err != nil {
		return nil, fmt.Errorf("the later request: %w", err)
	}
	return a.breaks(b), nil
}

// parts are the bytes of a request that a provider caches.
type parts struct {
	system   []byte
	tools    [][]byte
	messages [][]byte
}

// breaks returns where next is not a continuation of p, or nil.
func (p *parts) breaks(next *parts) *Break {
	if !bytes.Equal(p.system, next.system) {
		return difference("system", p.system, next.system)
	}
	if len(p.tools) != len(next.tools) && !p.loads(next) {
		return &Break{Segment: "tools", Old: fmt.Sprint(len(p.tools)), New: fmt.Sprint(len(next.tools))}
	}
	for i := range p.tools {
		if !bytes.Equal(p.tools[i], next.tools[i]) {
			return difference(fmt.Sprintf("tools[%d]", i), p.tools[i], next.tools[i])
		}
	}
	if len(next.messages) < len(p.messages) {
		return &Break{Segment: "messages", Old: fmt.Sprint(len(p.messages)), New: fmt.Sprint(len(next.messages))}
	}
	for i := range p.messages {
		if !bytes.Equal(p.messages[i], next.messages[i]) {
			return difference(fmt.Sprintf("messages[%d]", i), p.messages[i], next.messages[i])
		}
	}
	return nil
}

// difference shows the bytes around the first that differs.
func difference(segment string, a, b []byte) *Break {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	around := func(s []byte) string {
		from, to := max(0, at-60), min(len(s), at+120)
		return fmt.Sprintf("…%s… (byte %d)", s[min(from, to):to], at)
	}
	return &Break{Segment: segment, Old: around(a), New: around(b)}
}

// split takes a request apart, with the cache marks taken out.
func split(format string, body []byte) (*parts, error) {
	if !json.Valid(body) {
		return nil, errors.New("it is not JSON")
	}
	system, messages := map[string]string{"anthropic": "system", "responses": "instructions", "gemini": "systemInstruction"}[format], "messages"
	switch format {
	case "responses":
		messages = "input"
	case "gemini":
		messages = "contents"
	}
	p := &parts{}
	list := func(raw []byte) (out [][]byte) {
		for _, span := range elements(raw) {
			out = append(out, unmark(raw[span[0]:span[1]]))
		}
		return out
	}
	eachMember(body, func(_ int, key string, start, end int) {
		switch key {
		case system:
			p.system = unmark(body[start:end])
		case "tools":
			if p.tools = list(body[start:end]); format == "gemini" {
				p.tools = declarations(p.tools)
			}
		case messages:
			p.messages = list(body[start:end])
		}
	})
	return p, nil
}

// mark is the member that asks a provider to cache up to here. Where it stands
// moves on with the conversation, and it is no part of what is cached.
const mark = "cache_control"

// unmark cuts the cache marks out of a segment, byte for byte, wherever the
// APIs allow them: in an object itself, in the objects of its content (a list),
// and in those of a tool result's content. The model's own input is left alone.
func unmark(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"`+mark+`"`)) {
		return raw
	}
	var out []byte
	last := 0
	for _, span := range marks(raw, 0) {
		out = append(out, raw[last:span[0]]...)
		last = span[1]
	}
	return append(out, raw[last:]...)
}

// marks returns the spans to cut, with the comma that goes with each; base is
// added to them.
func marks(raw []byte, base int) (spans [][2]int) {
	for _, e := range elements(raw) {
		spans = append(spans, marks(raw[e[0]:e[1]], base+e[0])...)
	}
	first := true
	eachMember(raw, func(from int, key string, start, end int) {
		switch key {
		case mark:
			if comma := space(raw, end); first && comma < len(raw) && raw[comma] == ',' {
				end = comma + 1
			}
			spans = append(spans, [2]int{base + from, base + end})
		case "content":
			spans = append(spans, marks(raw[start:end], base+start)...)
		}
		first = false
	})
	return spans
}
