package testkit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCorpusArgument(t *testing.T) {
	for line, want := range map[string]any{
		`string("a\n)")`: "a\n)", `[]byte("\xff")`: []byte("\xff"), `bool(true)`: true, `int(-3)`: -3, `byte('\x01')`: byte(1), `byte('\'')`: byte('\''), `byte('\xff')`: byte(255), `byte('£')`: byte(0xa3),
	} {
		got, err := corpusArgument(line)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", line, err, diff)
		}
	}
	for _, line := range []string{"", "string", "string(a)", "float(1)", "bool(2)", "byte('€')", "byte('ab')"} {
		if got, err := corpusArgument(line); err == nil {
			t.Errorf("%s is %v", line, got)
		}
	}
}
