package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// stdString is encoding/json's own encoding with HTML escaping off.
func stdString(t interface{ Fatal(...any) }, s string) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

func TestAppendStringIsEncodingJSON(t *testing.T) {
	for _, s := range []string{"", "plain", "<a href=\"x\">&</a>", "\x00\x1f\b\f\n\r\t\\\x7f", "ü€😀", "\u2028\u2029", "a\xffb\xe2\x82"} {
		if got, want := string(AppendString(nil, s)), stdString(t, string([]rune(s))); got != want {
			t.Errorf("AppendString(%q) = %s, want %s", s, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		if rapid.Bool().Draw(t, "runes") {
			s = rapid.String().Draw(t, "string")
		}
		if got, want := string(AppendString(nil, s)), stdString(t, string([]rune(s))); got != want {
			t.Fatalf("AppendString(%q) = %s, want %s", s, got, want)
		}
	})
}

func TestArguments(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": 1 }`:               `{"a": 1 }`, // byte for byte
		` {"a":"é"}`:              ` {"a":"é"}`,
		``:                        `{}`,
		`{"a":`:                   `{}`,
		`[1]`:                     `{}`,
		`"x"`:                     `{}`,
		`{} {}`:                   `{}`,
		`{"a":"\ud83d\ude00"}`:    `{"a":"\ud83d\ude00"}`,
		`{"a":"\ud83d"}`:          `{"a":"\ufffd"}`,
		`{"a":"\ude00\ud83dx"}`:   `{"a":"\ufffd\ufffdx"}`,
		`{"a":"\\ud83d"}`:         `{"a":"\\ud83d"}`, // an escaped backslash, no escape
		"{\"a\":\"\xff\"}":        "{\"a\":\"\ufffd\"}",
		`{"a":"\ud83d\\u","b":1}`: `{"a":"\ufffd\\u","b":1}`,
	} {
		if got := Arguments(in); got != want {
			t.Errorf("Arguments(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNamesAndIDs(t *testing.T) {
	if got := Name("functions.bash:0"); got != "functions_bash_0" {
		t.Error(got)
	}
	if got := Name(""); got != "unknown" {
		t.Error(got)
	}
	if got := Name(strings.Repeat("x", 100)); len(got) != 64 {
		t.Error(got)
	}
	if got := CallID("toolu_01A-b"); got != "toolu_01A-b" {
		t.Error(got)
	}
	a, b := CallID("functions.bash:0"), CallID("functions.bash:1")
	if a == b || a != CallID("functions.bash:0") || CallID(a) != a {
		t.Error(a, b)
	}
}

// decodeCut unmarshals each piece of a JSON string on its own and joins them.
func decodeCut(t interface{ Fatal(...any) }, pieces ...string) string {
	var r Runes
	var out strings.Builder
	for _, p := range pieces {
		var text Text
		if err := json.Unmarshal([]byte(`"`+p+`"`), &text); err != nil {
			t.Fatal(p, err)
		}
		out.WriteString(r.Push(text))
	}
	out.WriteString(r.Flush())
	return out.String()
}

func TestRunesJoinsHalves(t *testing.T) {
	for _, tt := range []struct {
		want   string
		pieces []string
	}{
		{"ü", []string{"\xc3", "\xbc"}},
		{"😀", []string{"\xf0", "\x9f", "\x98", "\x80"}},
		{"a😀b", []string{`a\ud83d`, `\ude00b`}},
		{"😀", []string{`\ud83d\ude00`}},
		{"\ufffd", []string{`\ud83d`}},
		{"\ufffdx", []string{`\ud83d`, "x"}},
		{"\ufffdé", []string{`\ud83d`, "é"}},
		{"\ufffd\ufffd", []string{`\ude00`, `\ud83d`}},
		{"\ufffd", []string{"\xc3"}},
		{"\ufffdx", []string{"\xc3", "x"}},
		{"퟿", []string{"\xed", "\x9f\xbf"}},
		{"a\n\t\"\\/b", []string{`a\n\t\"\\\/b`}},
	} {
		if got := decodeCut(t, tt.pieces...); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.pieces, got, tt.want)
		}
	}
}

func TestRunesKeepsTextCutAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		var r Runes
		var out strings.Builder
		for rest := s; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			piece := r.Push(Text(rest[:n]))
			if strings.ContainsRune(piece, '\ufffd') && !strings.ContainsRune(s, '\ufffd') {
				t.Fatalf("piece %q is cut inside a rune", piece)
			}
			out.WriteString(piece)
			rest = rest[n:]
		}
		out.WriteString(r.Flush())
		if out.String() != s {
			t.Fatalf("got %q, want %q", out.String(), s)
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add(`"a\ud83d\ude00\n"`, 3)
	f.Add("\"\xf0\x9f\"", 2)
	// Half a surrogate pair as three raw bytes is one U+FFFD here and three in
	// encoding/json; both halves like that are a rune here. Those are left out.
	f.Add("\"\xed\xa0\x80\"", 1)
	f.Fuzz(func(t *testing.T, in string, cut int) {
		var text Text
		if json.Unmarshal([]byte(in), &text) != nil {
			return
		}
		for i := range len(in) {
			if isSurrogate([]byte(in[i:])) {
				return
			}
		}
		var want string
		if json.Unmarshal([]byte(in), &want) != nil {
			return
		}
		cut = max(0, min(cut, len(text)))
		var r Runes
		got := r.Push(text[:cut]) + r.Push(text[cut:]) + r.Flush()
		// encoding/json writes one U+FFFD for each invalid byte, as Runes does,
		// so both agree wherever the text is whole.
		if got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func FuzzArguments(f *testing.F) {
	f.Add(`{"a":"\ud83d\\ud83d"}`)
	f.Fuzz(func(t *testing.T, in string) {
		if got := Arguments(in); !IsObject(got) {
			t.Fatalf("Arguments(%q) = %q is no object", in, got)
		}
	})
}
