package wire

import (
	"testing"

	"garuda/internal/config"
	"garuda/internal/llm"
)

// What settings and --think ask for together.
func TestThinkingLevel(t *testing.T) {
	on, off := true, false
	for _, tc := range []struct {
		enabled *bool
		effort  string
		flag    string
		want    llm.ThinkingLevel
	}{
		{nil, "", "", llm.ThinkDefault},
		{nil, "high", "", llm.ThinkHigh},
		{&on, "", "", llm.ThinkMedium},
		{&on, "low", "", llm.ThinkLow},
		{&on, "off", "", llm.ThinkOff},
		{&off, "high", "", llm.ThinkOff},
		{&off, "low", "max", llm.ThinkMax},
		{&on, "high", "off", llm.ThinkOff},
	} {
		settings := config.Thinking{Enabled: tc.enabled, Effort: tc.effort}
		o := Options{Think: tc.flag}
		for _, f := range o.flags() {
			switch f.Key {
			case "thinking.effort":
				settings.Effort = f.Text
			case "thinking.enabled":
				value := f.Text == "true"
				settings.Enabled = &value
			}
		}
		if got := thinking(settings); got != tc.want {
			t.Errorf("%+v with --think %q is %q, want %q", tc, tc.flag, got, tc.want)
		}
	}
}
