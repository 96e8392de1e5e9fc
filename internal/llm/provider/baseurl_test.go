package provider

import (
	"strings"
	"testing"
)

func TestCheckBaseURL(t *testing.T) {
	tests := []struct {
		raw, format string
		insecure    bool
		base        string
		local       bool
		problem     string
	}{
		{"https://api.example.com/v1/", "chat", false, "https://api.example.com/v1", false, ""},
		{" https://api.example.com ", "chat", false, "https://api.example.com", false, ""},
		{"https://api.example.com/v1", "anthropic", false, "https://api.example.com", false, ""},
		{"https://gw.example.com/team/v1/", "anthropic", false, "https://gw.example.com/team", false, ""},
		{"https://g.example/v1beta/", "gemini", false, "https://g.example", false, ""},
		{"https://g.example/v1beta/models", "gemini", false, "", false, "end before /models"},
		{"http://localhost:8000/v1", "chat", false, "http://localhost:8000/v1", true, ""},
		{"http://LOCALHOST:8000", "chat", false, "http://LOCALHOST:8000", true, ""},
		{"http://127.3.2.1:8000", "chat", false, "http://127.3.2.1:8000", true, ""},
		{"http://[::1]:8000", "chat", false, "http://[::1]:8000", true, ""},
		{"http://[::ffff:127.0.0.1]:8000", "chat", false, "http://[::ffff:127.0.0.1]:8000", true, ""},
		{"http://gpu.example", "chat", true, "http://gpu.example", false, ""},
		{"http://gpu.example", "chat", false, "", false, "plain http"},
		{"http://localhost.example", "chat", false, "", false, "plain http"},
		{"http://127.0.0.1.example", "chat", false, "", false, "plain http"},
		{"http://0.0.0.0", "chat", false, "", false, "plain http"},
		{"http://192.168.1.1", "chat", false, "", false, "plain http"},
		{"ftp://x", "chat", false, "", false, "must begin with"},
		{"api.example.com/v1", "chat", false, "", false, "must begin with"},
		{"localhost:8000", "chat", false, "", false, "must begin with"},
		{"", "chat", false, "", false, "must begin with"},
		{"https://", "chat", false, "", false, "no host"},
		{"https://:80/", "chat", false, "", false, "no host"},
		{"https://u:sesame@x", "chat", false, "", false, "user or password"},
		{"https://sesame@x", "chat", false, "", false, "user or password"},
		{"https://x/v1?k=sesame", "chat", false, "", false, "query"},
		{"https://x/v1#sesame", "chat", false, "", false, "fragment"},
		{"https://x:sesame", "chat", false, "", false, "not a URL"},
		{"https://x/v1/chat/completions", "chat", false, "", false, "end before /chat/completions"},
		{"https://x/v1/messages", "anthropic", false, "", false, "end before /messages"},
		{"https://x/v1/responses/", "responses", false, "", false, "end before /responses"},
	}
	for _, tt := range tests {
		base, local, err := checkBaseURL(tt.raw, tt.format, tt.insecure)
		if tt.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tt.problem) || strings.Contains(err.Error(), "sesame") || base != "" {
				t.Errorf("%q: %q, %v; want %q", tt.raw, base, err, tt.problem)
			}
			continue
		}
		if err != nil || base != tt.base || local != tt.local {
			t.Errorf("%q: %q, %v, %v", tt.raw, base, local, err)
		}
	}
}

func FuzzCheckBaseURL(f *testing.F) {
	f.Add("http://127.0.0.1/v1", "chat")
	f.Add("http://[::1%25eth0]/", "anthropic")
	f.Fuzz(func(t *testing.T, raw, format string) {
		base, local, err := checkBaseURL(raw, format, false)
		if err != nil {
			return
		}
		// What was accepted is accepted again, and stays as it is; and plain http
		// goes nowhere but to this machine.
		again, same, err := checkBaseURL(base, format, false)
		if err != nil && !strings.Contains(err.Error(), "end before") || err == nil && (same != local || format != "anthropic" && again != base) {
			t.Errorf("%q became %q, then %q, %v", raw, base, again, err)
		}
		if strings.HasPrefix(base, "http://") && !local {
			t.Errorf("%q goes out in plain http", raw)
		}
	})
}
