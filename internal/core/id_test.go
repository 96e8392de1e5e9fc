package core

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestValidSessionID(t *testing.T) {
	form := regexp.MustCompile(`\A[A-Za-z0-9][A-Za-z0-9_-]{0,99}\z`)
	for _, s := range []string{"", "a", "-a", "_a", "..", "a/b", `a\b`, "a.b", "a\x00", "a\n", "é", strings.Repeat("a", 100), strings.Repeat("a", 101)} {
		if got := ValidSessionID(s); got != form.MatchString(s) {
			t.Errorf("ValidSessionID(%q) = %v", s, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[A-Za-z0-9_./\\é-]{0,102}`).Draw(t, "id")
		if got := ValidSessionID(s); got != form.MatchString(s) {
			t.Fatalf("ValidSessionID(%q) = %v", s, got)
		}
	})
	if id := NewSessionID(time.Now()); !ValidSessionID(id) {
		t.Errorf("a new id is not valid: %s", id)
	}
}
