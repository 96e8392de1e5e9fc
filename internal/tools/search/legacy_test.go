package search

import (
	"strings"
	"testing"
)

// A search finds text in the charsets from before Unicode, and shows it as such.
func TestGrepLegacyCharsets(t *testing.T) {
	env := newEnv(t, map[string]string{
		"de.txt": "eins\nGr\xf6\xdfe f\xfcr sp\xe4ter\n",
		"ja.txt": "// \x83t\x83@\x83C\x83\x8b\x82\xf0\x8aJ\x82\xad\n", // ファイルを開く
	})
	for pattern, want := range map[string]string{"Größe für": "de.txt:2:Größe für später", "ファイル": "ja.txt:1:// ファイルを開く"} {
		for _, multiline := range []bool{false, true} {
			if got := mustRun(t, env, grepTool{}, args{"pattern": pattern, "mode": "content", "multiline": multiline}); !strings.Contains(got, want) {
				t.Errorf("%s, multiline %v:\n%s", pattern, multiline, got)
			}
		}
	}
}
