package policy

import "testing"

func TestHostGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, host string
		want          bool
	}{
		{"example.com", "example.com", true},
		{"example.com", "EXAMPLE.com.", true},
		{" Example.COM. ", "example.com", true},
		{"example.com", "a.example.com", false},
		{"*.example.com", "a.b.example.com", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", "badexample.com", false},
		{"bücher.example", "xn--bcher-kva.example", true},
		{"xn--bcher-kva.example", "BÜCHER.example", true},
		{"example.com", "ｅｘａｍｐｌｅ.com", true},
		{"*", "anything.example", true},
		{"*", "127.0.0.1", true},
		{"127.0.0.1", "127.0.0.1", true},
		{"127.0.0.1", "127.0.0.2", false},
		{"[::1]", "[::1]", true},
		{"*.example.com", "127.0.0.1", false},
		{"example.com", "example.com:80", false},
	} {
		g, err := compileHost(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if got := g.matches(c.host); got != c.want {
			t.Errorf("%s of %s: %v", c.pattern, c.host, got)
		}
		again, err := compileHost(g.String())
		if err != nil || *again != *g {
			t.Errorf("%s is written %s, which is another: %v", c.pattern, g, err)
		}
	}
	for _, pattern := range []string{"", "a b", "https://x", "x/y", "x:80", "*.127.0.0.1", "a*.example.com", "*.*"} {
		if g, err := compileHost(pattern); err == nil {
			t.Errorf("%q is taken as %s", pattern, g)
		}
	}
}
