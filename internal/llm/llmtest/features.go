package llmtest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// Feature is something that not every wire format has, or not every host of it.
type Feature string

const (
	// ImageOutput: the model may answer with an image.
	ImageOutput Feature = "image output"
	// ServerSearch: the provider runs a web search of its own.
	ServerSearch Feature = "server search"
	// BoundText: the provider binds bytes to a text, such as citations.
	BoundText Feature = "bound text"
	// ThinkingUsage: the provider reports how many tokens were thinking.
	ThinkingUsage Feature = "thinking usage"
	// Scripted: package modelserver speaks this format, if need be through the
	// dialect's own front.
	Scripted Feature = "scripted server"
	// Deltas: an answer arrives while it is made, so that part of one can be there.
	Deltas Feature = "deltas"
	// BrokenInput: arguments that are no JSON can arrive.
	BrokenInput Feature = "broken input"
)

// Features are the hooks by which a dialect shows what it has. What is left out
// must stand in Without with the reason, so that nothing is untested by oversight.
type Features struct {
	Without map[Feature]string
	// Change sets up the client where a feature needs more than the suite's own
	// configuration, such as a quirk or a model's id.
	Change func(*llm.ClientConfig)
	// ImageFrames are an answer that says "ok" and holds the PNG image Picture.
	ImageFrames []string
	// SearchFrames are an answer that says Found, after a web search for Query by
	// the provider. What it holds of the search must go back as SearchBack.
	SearchFrames, SearchBack []string
	// SearchAsked is what a request holds that allows the search.
	SearchAsked string
	// BoundText is a text block that says Found, as a journal holds it, and
	// BoundBack what a request must hold of it.
	BoundText core.Block
	BoundBack string
}

// What the hooks' frames must say.
const (
	Picture = "\x89PNG picture"
	Found   = "It was found."
	Query   = "garuda bird"
)

// RunFeatures runs the part of the suite that depends on what a format has.
func RunFeatures(t *testing.T, d Dialect, f Features) {
	for _, test := range []struct {
		feature Feature
		given   bool
		run     func(*testing.T, Dialect, Features)
	}{
		{ImageOutput, len(f.ImageFrames) > 0, testImageOutput},
		{ServerSearch, len(f.SearchFrames) > 0, testServerSearch},
		{BoundText, f.BoundBack != "", testBoundText},
		{ThinkingUsage, f.Without[ThinkingUsage] == "", testThinkingUsage},
		{Scripted, f.Without[Scripted] == "", testScripted},
	} {
		t.Run(string(test.feature), func(t *testing.T) {
			reason, without := f.Without[test.feature]
			if without == test.given || without && reason == "" {
				t.Fatalf("the dialect must either show %q or say why it is without", test.feature)
			}
			if test.given {
				test.run(t, d, f)
			}
		})
	}
	t.Run("taxonomy", func(t *testing.T) { testTaxonomy(t, d) })
}

// testTaxonomy: each kind of error that a server can say is among the refusals.
// The others (connection, network, idle, protocol) have tests of their own.
func testTaxonomy(t *testing.T, d Dialect) {
	said := map[llm.ErrorKind]bool{}
	for _, r := range d.Refusals {
		said[r.Kind] = true
	}
	for _, kind := range []llm.ErrorKind{
		llm.ErrAuth, llm.ErrQuota, llm.ErrRateLimit, llm.ErrOverloaded, llm.ErrContextOverflow, llm.ErrTooLarge, llm.ErrBadRequest, llm.ErrServer,
	} {
		if !said[kind] {
			t.Errorf("no refusal of the dialect is a %s", kind)
		}
	}
}

func testImageOutput(t *testing.T, d Dialect, f Features) {
	s := NewServer(t, d, f.Change, Stream(f.ImageFrames...), Stream(d.Frames(Reply{Text: []string{"ok"}})...))
	req := hello()
	r := MustAsk(t, s.Model, req)
	i := slices.IndexFunc(r.Resp.Message.Blocks, func(b core.Block) bool { return b.Type == core.BlockImage })
	if i < 0 || r.Resp.Message.PlainText() != "ok" {
		t.Fatalf("%+v", r.Resp.Message.Blocks)
	}
	if b := r.Resp.Message.Blocks[i]; b.MediaType != "image/png" || !bytes.Equal(b.Data, []byte(Picture)) {
		t.Errorf("%+v", b)
	}
	req.Messages = append(req.Messages, r.Resp.Message, core.UserText("more"))
	MustAsk(t, s.Model, req)
	if !strings.Contains(s.Body(1), b64(Picture)) {
		t.Errorf("the image was not sent back: %s", s.Body(1))
	}
	if resumed := f.afterResume(t, d, req); resumed != s.Body(1) {
		t.Errorf("after a resume\n%s\nis sent, before it was\n%s", resumed, s.Body(1))
	}
}

func (f Features) afterResume(t testing.TB, d Dialect, req *llm.Request) string {
	t.Helper()
	create := d.New
	d.New = func(c llm.ClientConfig) (llm.Model, error) {
		if f.Change != nil {
			f.Change(&c)
		}
		return create(c)
	}
	return askAfterResume(t, d, req)
}

func testServerSearch(t *testing.T, d Dialect, f Features) {
	s := NewServer(t, d, f.Change, Stream(f.SearchFrames...), Stream(d.Frames(Reply{Text: []string{"ok"}})...))
	req := hello()
	req.Tools, req.ServerTools = nil, []string{"web_search"}
	r := MustAsk(t, s.Model, req)
	if !strings.Contains(s.Body(0), f.SearchAsked) {
		t.Errorf("%s is not in %s", f.SearchAsked, s.Body(0))
	}
	if r.Resp.Message.PlainText() != Found || len(r.Resp.Message.ToolUses()) != 0 || r.Resp.Stop != core.StopEndTurn || r.Resp.Usage.Searches != 1 {
		t.Errorf("%+v", r.Resp)
	}
	var begun, ended, asked bool
	for _, e := range r.Events {
		if e, ok := e.(llm.ServerTool); ok && e.Name == "web_search" && e.ID != "" && !e.IsError {
			begun = begun || !e.Done
			ended = ended || e.Done && begun
			asked = asked || strings.Contains(e.Input, Query)
		}
	}
	if !begun || !ended || !asked {
		t.Errorf("begun %v, ended %v, with what was asked %v: %+v", begun, ended, asked, r.Events)
	}
	req.Messages = append(req.Messages, r.Resp.Message, core.UserText("more"))
	MustAsk(t, s.Model, req)
	for _, want := range f.SearchBack {
		if !strings.Contains(s.Body(1), want) {
			t.Errorf("%s\nis not in\n%s", want, s.Body(1))
		}
	}
	if resumed := f.afterResume(t, d, req); resumed != s.Body(1) {
		t.Errorf("after a resume\n%s\nis sent, before it was\n%s", resumed, s.Body(1))
	}
	plain := NewServer(t, d, f.Change, Stream(d.Frames(Reply{Text: []string{"ok"}})...))
	req = hello()
	req.Tools = nil
	MustAsk(t, plain.Model, req)
	if strings.Contains(plain.Body(0), f.SearchAsked) {
		t.Errorf("a search was allowed that nobody asked for: %s", plain.Body(0))
	}
}

func testBoundText(t *testing.T, d Dialect, f Features) {
	ask := func(b core.Block) string {
		s := NewServer(t, d, f.Change, Stream(d.Frames(Reply{Text: []string{"ok"}})...))
		MustAsk(t, s.Model, Request(core.UserText("one"), &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{b}}, core.UserText("two")))
		return s.Body(0)
	}
	if body := ask(f.BoundText); !strings.Contains(body, f.BoundBack) {
		t.Errorf("%s\nis not in\n%s", f.BoundBack, body)
	}
	foreign := f.BoundText
	foreign.Provider = "other"
	for name, b := range map[string]core.Block{"another provider's": foreign, "broken": {Type: core.BlockText, Text: Found, Provider: d.Format, Opaque: `{"x":`}} {
		if got, want := ask(b), ask(core.Text(Found)); got != want {
			t.Errorf("%s bytes:\n%s\nis sent instead of\n%s", name, got, want)
		}
	}
}

func testThinkingUsage(t *testing.T, d Dialect, f Features) {
	want := core.Usage{Input: 100, Output: 50, CacheRead: 3000, Thinking: 30}
	s := NewServer(t, d, f.Change, Stream(d.Frames(Reply{Thinking: []string{"hm"}, Signature: "c2ln", Text: []string{"ok"}, Usage: want})...))
	if r := MustAsk(t, s.Model, hello()); r.Resp.Usage != want || !r.Resp.UsageReported {
		t.Errorf("%+v, want %+v", r.Resp.Usage, want)
	}
}
