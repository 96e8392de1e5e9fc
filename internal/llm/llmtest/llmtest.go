// Package llmtest is the conformance suite of the model clients: what holds for
// every wire format, checked against servers that it scripts itself.
//
// It is for tests only.
package llmtest

import (
	"net/http"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// Dialect is what the suite must know of a wire format.
type Dialect struct {
	// Format is llm.Info.Format.
	Format string
	New    func(llm.ClientConfig) (llm.Model, error)
	// Base is appended to the server's address to make the base URL; Path is
	// where requests then arrive.
	Base, Path string
	// KeyHeader and KeyPrefix say how the key arrives.
	KeyHeader, KeyPrefix string
	// Frames renders a reply as server-sent events, each with its blank line.
	Frames func(Reply) []string
	// Spare is how many of the last frames an answer is complete without.
	Spare int
	// ErrorFrame is an error in the middle of a stream: "the server is overloaded".
	ErrorFrame string
	// Refusals are error answers in the format's own spelling.
	Refusals []Refusal
	// Stops are the provider's stop reasons.
	Stops map[string]core.StopReason
	// System and List are the request's members for the system prompt (empty when
	// it is in the list) and the messages.
	System, List string
	// CacheMark is taken out of a request before it is compared; may be empty.
	CacheMark string
	// Serve, where it is set, stands in front of the suite's servers and makes of
	// their one answer what the format has instead, such as a batch that is asked
	// about. Request then takes the request out of a body that holds more.
	Serve   func(http.Handler) http.Handler
	Request func(body string) string
	// Scripted stands in front of package modelserver, where the format's paths or
	// bodies are not those that it serves.
	Scripted func(http.Handler) http.Handler
	// Without says what cannot be in this format, with the reason: Deltas, BrokenInput.
	Without map[Feature]string
}

func (d Dialect) has(f Feature) bool { return d.Without[f] == "" }

// serve puts the dialect's own server in front of the suite's.
func (d Dialect) serve(h http.HandlerFunc) http.Handler {
	if d.Serve == nil {
		return h
	}
	return d.Serve(h)
}

// Reply is what a scripted server answers.
type Reply struct {
	Thinking  []string // deltas
	Signature string
	Text      []string // deltas
	Calls     []Call
	RawStop   string // empty for the format's plain end, or its tool use
	Usage     core.Usage
}

// Call is a tool call whose arguments arrive in pieces.
type Call struct {
	ID, Name string
	Args     []string
}

// Refusal is an error answer.
type Refusal struct {
	Name   string
	Status int
	Body   string
	Kind   llm.ErrorKind
	Block  string
	// Local makes the model one on this machine; Hint must then be in the hint.
	Local bool
	Hint  string
}

// Run runs the suite.
func Run(t *testing.T, d Dialect) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Dialect)
	}{
		{"Text", testText},
		{"Calls", testCalls},
		{"CutArguments", testCutArguments},
		{"BytewiseStream", testBytewiseStream},
		{"LineEnds", testLineEnds},
		{"OddInputs", testOddInputs},
		{"Thinking", testThinking},
		{"ThinkingBytes", testThinkingBytes},
		{"ForeignBlocks", testForeignBlocks},
		{"Images", testImages},
		{"OddHistory", testOddHistory},
		{"Stops", testStops},
		{"Usage", testUsage},
		{"OddUsage", testOddUsage},
		{"BrokenTrailer", testBrokenTrailer},
		{"LargeEvent", testLargeEvent},
		{"Abort", testAbort},
		{"Cut", testCut},
		{"Refusals", testRefusals},
		{"RetryAfter", testRetryAfter},
		{"ErrorInStream", testErrorInStream},
		{"Stall", testStall},
		{"Garbage", testGarbage},
		{"Redirect", testRedirect},
		{"NoServer", testNoServer},
		{"KeyStaysSecret", testKeyStaysSecret},
		{"EarlyAnswer", testEarlyAnswer},
		{"ConnectionReuse", testConnectionReuse},
		{"StablePrefix", testStablePrefix},
		{"ChangedRequest", testChangedRequest},
		{"BadSchema", testBadSchema},
		{"UnknownAsks", testUnknownAsks},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, d) })
	}
}

// Quote writes a JSON string whose bytes stay as they are, whole runes or not.
func Quote(s string) string {
	if len(s) > 1<<20 && strings.Count(s, "x") == len(s) {
		return `"` + s + `"` // the race detector makes the loop below slow
	}
	var out strings.Builder
	out.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c == '\n':
			out.WriteString(`\n`)
		case c < 0x20:
			out.WriteString(`\u00`)
			out.WriteByte("0123456789abcdef"[c>>4])
			out.WriteByte("0123456789abcdef"[c&0xf])
		default:
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// Data makes a frame of one data line; Event one with a name, too.
func Data(data string) string { return "data: " + data + "\n\n" }

// Event makes a frame with an event name.
func Event(name, data string) string { return "event: " + name + "\n" + Data(data) }
