package llmtest

import (
	"regexp"
	"slices"
	"testing"
)

var counted = regexp.MustCompile(`("[A-Za-z_]*[tT]oken[A-Za-z_]*"):\s*[0-9]+`)

// testBrokenTrailer: an event that cannot be read, behind an answer that is complete,
// costs nothing but itself.
func testBrokenTrailer(t *testing.T, d Dialect) {
	if !d.has(Deltas) {
		t.Skip(d.Without[Deltas])
	}
	frames := d.Frames(full())
	complete := frames[:len(frames)-d.Spare]
	for _, broken := range []string{`{"usage":{`, `[1,2]`, `hello`, `{"usage":{"prompt_tokens":0x1p}}`, `"`} {
		s := NewServer(t, d, nil, Stream(slices.Concat(complete, []string{Data(broken)}, frames[len(complete):])...))
		if r := MustAsk(t, s.Model, hello()); r.Text() != "aü" || len(r.Resp.Message.ToolUses()) != 2 {
			t.Errorf("%s: %+v", broken, r.Resp)
		}
	}
}

// testOddUsage: an answer that is whole is not thrown away, and paid for again,
// because its usage cannot be read.
func testOddUsage(t *testing.T, d Dialect) {
	for odd, readable := range map[string]bool{
		`"7"`: true, `7.5`: true, `1e300`: true, `9223372036854775807`: true,
		`-7`: false, `{}`: false, `[1]`: false, `"many"`: false, `NaN`: false, `Infinity`: false, `-Infinity`: false,
	} {
		var frames []string
		found := false
		for _, f := range d.Frames(full()) {
			g := counted.ReplaceAllString(f, "$1:"+odd)
			found = found || g != f
			frames = append(frames, g)
		}
		if !found {
			t.Skip("the frames are not text, or hold no usage")
		}
		s := NewServer(t, d, nil, Stream(frames...))
		resp := MustAsk(t, s.Model, hello()).Resp
		u := resp.Usage
		if resp.UsageReported != readable || !readable && u.Total() != 0 {
			t.Errorf("%s: reported %v, %+v", odd, resp.UsageReported, u)
		}
		if u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Total() < 0 || u.Add(u).Total() < 0 {
			t.Errorf("%s: %+v", odd, u)
		}
	}
}
