package finder

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func names(matches []Match) []string {
	var out []string
	for _, m := range matches {
		out = append(out, m.Name)
	}
	return out
}

func TestOrder(t *testing.T) {
	x := New([]string{
		"cmd/main_test.go", "internal/domain/x.go", "main.go", "docs/main/a.md", "internal/matcher/index.go", "MAIN.txt", "src/myMain.go", "main", "nothing",
	})
	for query, want := range map[string][]string{
		"main":    {"main", "main.go", "MAIN.txt", "cmd/main_test.go", "src/myMain.go", "docs/main/a.md", "internal/domain/x.go", "internal/matcher/index.go"},
		"main.go": {"main.go", "src/myMain.go", "cmd/main_test.go", "internal/matcher/index.go", "internal/domain/x.go"},
		"cmd/":    {"cmd/main_test.go"},
		"xg":      {"internal/domain/x.go", "internal/matcher/index.go"},
		"zzz":     nil,
	} {
		got := names(x.Search().Find(query, 8))
		if query == "main" { // the letters alone stand last
			got = got[:7]
			want = want[:7]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

func TestPlaces(t *testing.T) {
	x := New([]string{"src/myMain.go"})
	for query, want := range map[string][]int{"main": {6, 7, 8, 9}, "smg": {0, 6, 11}} {
		got := x.Search().Find(query, 1)
		if len(got) != 1 {
			t.Fatalf("%s: %v", query, got)
		}
		if diff := cmp.Diff(want, got[0].At); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

// Typing letter by letter, and taking letters back, finds what asking at once finds,
// and everything found has the letters in order.
func TestKeystrokes(t *testing.T) {
	name := rapid.StringMatching("[a-cA-C/_.é]{0,12}")
	rapid.Check(t, func(t *rapid.T) {
		x := New(rapid.SliceOfN(name, 0, 30).Draw(t, "names"))
		s := x.Search()
		query := ""
		for range rapid.IntRange(1, 8).Draw(t, "keys") {
			if query != "" && rapid.IntRange(0, 3).Draw(t, "back") == 0 {
				query = query[:len(query)-1]
			} else {
				query += rapid.StringMatching("[a-cA-C/_.]").Draw(t, "key")
			}
			got := names(s.Find(query, 5))
			if diff := cmp.Diff(names(x.Search().Find(query, 5)), got); diff != "" {
				t.Fatalf("%q: %s", query, diff)
			}
			for _, name := range got {
				rest := strings.ToLower(name)
				for _, c := range strings.ToLower(query) {
					_, after, ok := strings.Cut(rest, string(c))
					if !ok {
						t.Fatalf("%q was found for %q", name, query)
					}
					rest = after
				}
			}
		}
	})
}

func paths(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"internal", "cmd", "engine", "policy", "sandbox", "Button", "index", "utils", "test", "main", "server", "client", "node_modules", "react"}
	out := make([]string, n)
	for i := range out {
		var parts []string
		for range 2 + r.IntN(5) {
			parts = append(parts, words[r.IntN(len(words))])
		}
		out[i] = fmt.Sprintf("%s/%s_%d.go", strings.Join(parts, "/"), words[r.IntN(len(words))], i)
	}
	return out
}

func BenchmarkNew(b *testing.B) {
	list := paths(200_000)
	for b.Loop() {
		New(list)
	}
}

// BenchmarkKey is the first key, which looks at every name, and the ones after it.
func BenchmarkKey(b *testing.B) {
	x := New(paths(200_000))
	for _, query := range []string{"s", "se", "sand", "sandbox", "snbx", "zq", "engine/pol"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				x.Search().Find(query, 50)
			}
		})
	}
}
