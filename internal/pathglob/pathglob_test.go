package pathglob

import "testing"

func TestMatches(t *testing.T) {
	inRoot := func(rel string) Place { return Place{Abs: "/p/" + rel, Rel: rel, FromRoot: true} }
	outside := func(abs string) Place { return Place{Abs: abs} }
	cases := []struct {
		pattern  string
		place    Place
		refusing bool
		want     bool
	}{
		{"a/b", inRoot("a/b"), true, true},
		{"a/b", inRoot("a/b/c"), true, true},
		{"a/b", inRoot("x/a/b"), true, false},
		{"/a", inRoot("a"), true, true},
		{"secret", inRoot("x/y/secret"), true, true},
		{"secret", outside("/q/secret"), true, true},
		{"secret", outside("/q/secret"), false, false},
		{"*.pem", inRoot(".git/x.pem"), true, true},
		{"~/x", outside("/home/u/x"), true, true},
		{"~/x", outside("/home/v/x"), true, false},
		{"//srv/s", outside("/srv/s/t"), true, true},
		{"a/b", Place{Abs: "/added/a/b", Rel: "a/b"}, true, false},
	}
	for _, c := range cases {
		g, err := Compile(c.pattern, "/home/u", true, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Matches(c.place, c.refusing); got != c.want {
			t.Errorf("%s on %+v, refusing %v: %v", c.pattern, c.place, c.refusing, got)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, p := range []string{"", "/", "../x", "a/../b", "[", "a{"} {
		if _, err := Compile(p, "/home/u", true, false); err == nil {
			t.Errorf("%q was taken", p)
		}
	}
	if _, err := Compile("~/x", "", true, false); err == nil {
		t.Error("a pattern of a home that is not known was taken")
	}
}

func TestBase(t *testing.T) {
	for pattern, want := range map[string]string{
		"a": "", "a/b": "", "~/x": "/home/u/x", "~/x/": "/home/u/x", "~": "/home/u", "//srv/a/*.key": "/srv/a",
		"//srv/{a,b}/c": "/srv", "//**": "/", "//*/x": "/", "//srv/x": "/srv/x",
	} {
		g, err := Compile(pattern, "/home/u", true, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Base(); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}

// TestLiteral: a pattern names files only with a character of its own.
func TestLiteral(t *testing.T) {
	for pattern, want := range map[string]bool{
		".env": true, "*.pem": true, "a*": true, "?x": true, "{.env,.env.test}": true, "x/.env": true, `\*`: true, "[ab]c": true, "{a,b*}": true,
		"*": false, "**": false, "x/**": false, "?": false, "??*": false, "[.]*": false, "[!a]*": false, "{*,.env}": false, "{.env,?*}": false,
		"{a,{b,*}}": false, "[.][e][n][v]": false, "x/": false,
	} {
		g, err := Compile(pattern, "/h", false, false)
		if err != nil {
			t.Fatal(pattern, err)
		}
		if g.Literal() != want {
			t.Errorf("%s: %v", pattern, !want)
		}
	}
}
