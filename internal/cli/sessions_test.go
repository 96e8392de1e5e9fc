package cli

import (
	"strings"
	"testing"
)

func TestOnlyAYesDeletes(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "YES\n": true, " yes \n": true, "n\n": false, "\n": false, "yes, but not this one\n": false, "y": false, "": false,
		strings.Repeat(" ", 200) + "y\n": false,
	} {
		if saysYes(strings.NewReader(answer)) != want {
			t.Errorf("%q: want %v", answer, want)
		}
	}
}
