package llm

import "testing"

func TestMaxTokens(t *testing.T) {
	plain, thinks, small := &Info{}, &Info{Thinks: true}, &Info{Thinks: true, MaxOutput: 4096}
	for _, tt := range []struct {
		info  *Info
		level ThinkingLevel
		want  int
	}{
		{plain, ThinkDefault, 8192},
		{thinks, ThinkDefault, 16384},
		{thinks, ThinkOff, 8192},
		{thinks, ThinkLow, 16384},
		{plain, ThinkHigh, 16384},
		{thinks, ThinkXHigh, 32000},
		{thinks, ThinkMax, 32000},
		{small, ThinkMax, 4096},
		{&Info{Known: true, ContextWindow: 8192}, ThinkDefault, 4096},
		{&Info{Known: true, ContextWindow: 32_768, Thinks: true}, ThinkMax, 16384},
		{&Info{Known: true, ContextWindow: 8192, MaxOutput: 1000}, ThinkDefault, 1000},
		{&Info{ContextWindow: 8192}, ThinkDefault, 8192}, // only assumed
	} {
		if got := MaxTokens(tt.info, tt.level); got != tt.want {
			t.Errorf("MaxTokens(%+v, %q) = %d, want %d", tt.info, tt.level, got, tt.want)
		}
	}
}
