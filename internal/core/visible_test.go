package core

import "testing"

func TestVisible(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"plain\n\ttext", "plain\n\ttext"},
		{"größe 日本 😀", "größe 日本 😀"},
		{"a\rb", "a␍b"},
		{"\x1b[31mred", "␛[31mred"},
		{"a\u202eb", "a[U+202E]b"},
		{"a\u200bb", "a[U+200B]b"},
		{"a\u00a0b", "a[U+00A0]b"},
		{"a\x07", "a[U+0007]"},
		{"a\u009bb", "a[U+009B]b"},
		{"a\xffb", "a[0xFF]b"},
		{"\ufffd", "\ufffd"},
		{"tag\U000e0041", "tag[U+E0041]"},
		{"❤️", "❤️"},
	} {
		if got := Visible(tc.in); got != tc.want {
			t.Errorf("Visible(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}
