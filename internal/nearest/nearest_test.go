package nearest

import "testing"

func TestOf(t *testing.T) {
	known := []string{"permissions", "model", "read_file", "write_file", "--allow", "--deny"}
	for _, tc := range []struct{ name, want string }{
		{"premissions", "permissions"},
		{"permisions", "permissions"},
		{"Model", "model"},
		{"modle", "model"},
		{"readfile", "read_file"},
		{"--alow", "--allow"},
		{"perm", "permissions"},
		{"zebra", ""},
		{"x", ""},
		{"", ""},
	} {
		if got := Of(tc.name, known); got != tc.want {
			t.Errorf("Of(%q) = %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "ab", 1}, {"kitten", "sitting", 3}, {"", "ab", 2}} {
		if got := distance(tc.a, tc.b); got != tc.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
