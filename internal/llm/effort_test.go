package llm

import (
	"strings"
	"testing"
)

func TestEffort(t *testing.T) {
	for _, tt := range []struct {
		level ThinkingLevel
		words string
		want  string
	}{
		{ThinkDefault, "low,high", ""},
		{"loud", "low,high", ""},
		{ThinkHigh, "", ""},
		{ThinkOff, "none,low,high", "none"},
		{ThinkOff, "minimal,low", "minimal"},
		{ThinkOff, "medium,high", "medium"},
		{ThinkLow, "none,high", "high"},
		{ThinkLow, "minimal,low,high", "low"},
		{ThinkLow, "medium,high,xhigh", "medium"},
		{ThinkMedium, "low,high", "low"},
		{ThinkXHigh, "low,medium,high", "high"},
		{ThinkXHigh, "low,high,max", "high"},
		{ThinkMax, "low,xhigh", "xhigh"},
		{ThinkMax, "low,high,max", "max"},
		{ThinkHigh, "none,default", "default"},
		{ThinkLow, "none", ""},
	} {
		var words []string
		if tt.words != "" {
			words = strings.Split(tt.words, ",")
		}
		if got := Effort(tt.level, words); got != tt.want {
			t.Errorf("%s of %s: %q, want %q", tt.level, tt.words, got, tt.want)
		}
	}
}
