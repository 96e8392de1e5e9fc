package llmtest

import (
	"regexp"
	"testing"
)

var counted = regexp.MustCompile(`("[A-Za-z_]*[tT]oken[A-Za-z_]*"):\s*[0-9]+`)

// testOddUsage: an answer that is whole is not thrown away, and paid for again,
// because its usage cannot be read.
func testOddUsage(t *testing.T, d Dialect) {
	for _, odd := range []string{`"7"`, `7.5`, `-7`, `1e300`, `9223372036854775807`, `null`, `{}`, `[1]`, `"many"`} {
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
		u := MustAsk(t, s.Model, hello()).Resp.Usage
		if u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || u.Total() < 0 || u.Add(u).Total() < 0 {
			t.Errorf("%s: %+v", odd, u)
		}
	}
}
