package hl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/ui/styled"
)

// marks are the signs that stand for roles in the tests' expected lines.
func marks() map[styled.Role]string {
	return map[styled.Role]string{
		styled.Keyword: "k", styled.Type: "t", styled.Function: "f", styled.Constant: "c", styled.String: "s",
		styled.Number: "n", styled.Comment: "/", styled.Attribute: "a", styled.Heading: "h", styled.Added: "+",
		styled.Removed: "-", styled.Accent: "@", styled.Muted: "m", styled.InlineCode: "`", styled.Quote: ">", styled.Rule: "r",
	}
}

// shape writes the role of each byte below it; a dot for none.
func shape(l *Language, text string) string {
	var b strings.Builder
	var state State
	for line := range strings.SplitSeq(text, "\n") {
		var spans styled.Line
		spans, state = l.Line(line, state)
		b.WriteString(line + "\n")
		for _, s := range spans {
			mark := "."
			if m := marks()[s.Role]; m != "" {
				mark = m
			}
			b.WriteString(strings.Repeat(mark, len(s.Text)))
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestLines(t *testing.T) {
	for _, tt := range []struct{ language, want string }{
		{"go", "func main() { x := 0x1F // end\nkkkk.ffff..........nnnn.//////"},
		{"go", "s := `a\n.....ss\nb` + 'c' + \"d\\\"e\"\nss...sss...ssssss"},
		{"go", "/* a\n////\nb */ return nil\n////.kkkkkk.ccc"},
		{"python", "def f(x): return \"\"\"a\nkkk.f.....kkkkkk.ssss\nb\"\"\" # c\nssss.///"},
		{"javascript", "const r = /a[/]b/g, n = a / b\nkkkkk.....ssssssss..........."},
		{"typescript", "let x: string = `a${b}`\nkkk....tttttt...sssssss"},
		{"rust", "let s = r#\"a\"b\"#; // c\nkkk.....ssssssss..////"},
		{"rust", "fn f<'a>(x: &'a str) -> char { 'x' }\nkk..............ttt.....tttt...sss.."},
		{"bash", "for f in *.go; do echo \"$f\" # x\nkkk...kk.......kk.ffff.ssss.///"},
		{"json", "{\"a\": \"b\", \"c\": [1, true]}\n.aaa..sss..aaa...n..cccc.."},
		{"yaml", "- name: \"x\" # c\n..aaaa..sss.///"},
		{"sql", "SELECT a FROM t WHERE b = 'it''s' -- c\nkkkkkk...kkkk...kkkkk.....sssssss.////"},
		{"html", "<a href=\"x\">t</a>\nkk.aaaa.sssk.kkkk"},
		{"diff", "@@ -1 +1 @@\n@@@@@@@@@@@\n-a\n--\n+b\n++"},
		{"toml", "[a.b]\nhhhhh\nkey = 1\naaa...n"},
		{"c", "#include <a.h>\nkkkkkkkk......"},
		{"makefile", "all: build\naaa......."},
		{"dockerfile", "FROM debian AS x\nkkkk........kk.."},
		{"css", ".a { color: red; } /* x */\n...................///////"},
	} {
		t.Run(tt.language, func(t *testing.T) {
			var text []string
			for i, line := range strings.Split(tt.want, "\n") {
				if i%2 == 0 {
					text = append(text, line)
				}
			}
			if diff := cmp.Diff(tt.want, shape(Named(tt.language), strings.Join(text, "\n"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"Go": "go", "golang": "go", "py": "python", "ts": "typescript", "tsx": "typescript", "sh": "bash", "c++": "c++",
		"js {1,3}": "javascript", "yml": "yaml", ".html": "xml", "cs": "c#", "rs": "rust",
	} {
		if l := Named(name); l == nil || l.Name() != want {
			t.Errorf("Named(%q) = %v, want %s", name, l, want)
		}
	}
	for name, want := range map[string]string{
		"a/b.go": "go", "Makefile": "makefile", "Dockerfile.dev": "dockerfile", `C:\x\y.PY`: "python", "go.mod": "go", "x.tar.js": "javascript",
	} {
		if l := OfFile(name); l == nil || l.Name() != want {
			t.Errorf("OfFile(%q) = %v, want %s", name, l, want)
		}
	}
	for _, name := range []string{"", "klingon", "text"} {
		if l := Named(name); l != nil {
			t.Errorf("Named(%q) = %s, want none", name, l.Name())
		}
	}
}

// Every language is known by each of its names once, and there are enough of them.
func TestTables(t *testing.T) {
	seen := map[string]string{}
	for name, s := range tables() {
		for other := range strings.FieldsSeq(name + " " + s.files) {
			if first, twice := seen[other]; twice {
				t.Errorf("%q is both %s and %s", other, first, name)
			}
			seen[other] = name
		}
	}
	if n := len(tables()); n < 20 {
		t.Errorf("%d languages, want 20 at least", n)
	}
}

// Nothing of a line is lost or added, whatever it is, in any language and state.
func TestNothingIsLost(t *testing.T) {
	var names []string
	for name := range tables() {
		names = append(names, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		l := Named(rapid.SampledFrom(names).Draw(t, "language"))
		var state State
		for _, line := range rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.StringMatching("[a-z0-9\"'`/*#<>{}=:\\\\@$. -]*"))).Draw(t, "lines") {
			var spans styled.Line
			if spans, state = l.Line(line, state); spans.String() != line {
				t.Fatalf("%s: %q became %q", l.Name(), line, spans.String())
			}
		}
	})
}

func FuzzLine(f *testing.F) {
	f.Add("rust", "r##\"a\"#\n\"## 'a 'b'")
	f.Add("xml", "<a b='c\n'> <!-- \n -->")
	f.Add("python", "'''\n\\\n'''")
	f.Fuzz(func(t *testing.T, name, text string) {
		l := Named(name)
		var state State
		for line := range strings.SplitSeq(text, "\n") {
			var spans styled.Line
			if spans, state = l.Line(line, state); spans.String() != line {
				t.Fatalf("%q became %q", line, spans.String())
			}
		}
	})
}

func BenchmarkLine(b *testing.B) {
	l := Named("go")
	line := "\tif s.state.open > 0 && !l.spans[s.state.open-1].lines && !strings.HasSuffix(text, `\\`) { // so"
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		l.Line(line, State{})
	}
}
