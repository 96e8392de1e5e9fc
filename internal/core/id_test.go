package core

import (
	"strings"
	"testing"
	"time"
)

func TestSessionIDs(t *testing.T) {
	id := NewSessionID(time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", 3600)))
	if !strings.HasPrefix(id, "20260304-040607-") || len(id) != len("20260304-040607-abcd") || !ValidSessionID(id) {
		t.Errorf("made %q", id)
	}
	for _, ok := range []string{"a", "20260101-000000-abcd", "A_b-9", strings.Repeat("x", 100)} {
		if !ValidSessionID(ok) {
			t.Errorf("%q is refused", ok)
		}
	}
	for _, bad := range []string{"", ".", "..", "../x", "a/b", `a\b`, "a.b", "-a", "_a", "a b", "a\n", "é", "a\x00", strings.Repeat("x", 101)} {
		if ValidSessionID(bad) {
			t.Errorf("%q is taken", bad)
		}
	}
}
