package hostname_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"garuda/internal/hostname"
	"pgregory.net/rapid"
)

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"example.com":                  "example.com",
		"EXAMPLE.Com.":                 "example.com",
		"localhost":                    "localhost",
		"_dmarc.example.com":           "_dmarc.example.com",
		"r3---sn-x.example.com":        "r3---sn-x.example.com",
		"bücher.example":               "xn--bcher-kva.example",
		"BÜCHER.example":               "xn--bcher-kva.example",
		"xn--bcher-kva.example":        "xn--bcher-kva.example",
		"XN--BCHER-KVA.example":        "xn--bcher-kva.example",
		"straße.example":               "xn--strae-oqa.example",
		"example。com":                  "example.com",
		"ｅｘａｍｐｌｅ．ｃｏｍ":                  "example.com",
		"exa\u00admple.com":            "example.com",
		"1.example.com":                "1.example.com",
		"0x.example.com":               "0x.example.com",
		"3com.com":                     "3com.com",
		strings.Repeat("a", 63) + ".b": strings.Repeat("a", 63) + ".b",
	} {
		got, err := hostname.Normalise(in)
		if err != nil || got != want {
			t.Errorf("Normalise(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestWhatIsNoName(t *testing.T) {
	for _, in := range []string{
		"", ".", "..", "a..b", ".a", "a..", " example.com", "example.com ", "exa mple.com",
		"user@example.com", "example.com\x00", "exam\x00ple.com", "example.com\n", "a\tb.com", "a\x7fb.com",
		"example%2ecom", "%65xample.com", "example.com:443", "example.com/", "http://example.com", "a\\b.com",
		"*.example.com", "-a.com", "a-.com", "a.-b.com", "xn--\xff.com", "xn--a.com", "xn--ä.com", "\xff\xfe.com",
		"a,b.com", "a;b.com", "a?b", "a#b", "a$b.com", "example.com。。", "exa\u2028mple.com", "a\u202eb.com",
		strings.Repeat("a", 64) + ".com", strings.Repeat("a.", 127) + "com", strings.Repeat("ä", 5000),
	} {
		if got, err := hostname.Normalise(in); err == nil {
			t.Errorf("Normalise(%q) = %q; it is no name", in, got)
		} else if errors.Is(err, hostname.ErrAddress) {
			t.Errorf("Normalise(%q): %v; it is no address", in, err)
		}
	}
}

// Addresses in every spelling that some program reads as one.
func TestAddressesAreNoNames(t *testing.T) {
	for _, in := range []string{
		"127.0.0.1", "127.0.0.1.", "93.184.216.34", "2130706433", "017700000001", "0x7f000001", "0X7F000001", "0x7f.1",
		"127.1", "127.0.1", "0177.0.0.1", "0x7f.0x0.0x0.0x1", "0", "0x", "1.2.3.4.5", "999.999.999.999", "foo.0x7f",
		"example.1", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "①②⑦.0.0.1", "127.0.0.\u00ad1",
		"::1", "[::1]", "::", "::ffff:127.0.0.1", "[::ffff:7f00:1]", "fe80::1%eth0", "[fe80::1%25eth0]", "64:ff9b::7f00:1",
		"2002:7f00:1::", "2001:0:7f00:1::", "[127.0.0.1]",
	} {
		if got, err := hostname.Normalise(in); !errors.Is(err, hostname.ErrAddress) {
			t.Errorf("Normalise(%q) = %q, %v; want ErrAddress", in, got, err)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, shown string
		yes, no        []string
	}{
		{"example.com", "example.com", []string{"example.com"}, []string{"a.example.com", "example.co", "notexample.com", ""}},
		{"*.Example.com.", "*.example.com", []string{"a.example.com", "a.b.example.com"}, []string{"example.com", "notexample.com", ".example.com", ""}},
		{"*.bücher.example", "*.xn--bcher-kva.example", []string{"x.xn--bcher-kva.example"}, []string{"xn--bcher-kva.example"}},
		{"*", "*", []string{"example.com", "localhost"}, []string{""}},
	} {
		p, err := hostname.ParsePattern(tt.pattern)
		if err != nil {
			t.Errorf("ParsePattern(%q): %v", tt.pattern, err)
			continue
		}
		if p.String() != tt.shown {
			t.Errorf("%q is shown as %q, want %q", tt.pattern, p, tt.shown)
		}
		for _, name := range tt.yes {
			if !p.Match(name) {
				t.Errorf("%q does not match %q", tt.pattern, name)
			}
		}
		for _, name := range tt.no {
			if p.Match(name) {
				t.Errorf("%q matches %q", tt.pattern, name)
			}
		}
	}
	for _, bad := range []string{"", "*.", "**", "a.*.com", "*example.com", "https://example.com", "example.com:443", "10.0.0.1", "*.1"} {
		if p, err := hostname.ParsePattern(bad); err == nil {
			t.Errorf("ParsePattern(%q) = %v", bad, p)
		}
	}
	if (hostname.Pattern{}).Match("") || (hostname.Pattern{}).Match("example.com") {
		t.Error("the zero pattern matches")
	}
}

// What comes out is a fixed point, and never an address.
func TestNormalisedStaysSo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkFixedPoint(t, rapid.StringMatching(`[a-zA-Z0-9xX。ü._-]{1,24}`).Draw(t, "name"))
	})
}

func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{"example.com", "0x7f.1", "bücher.example", "xn--bcher-kva", "a。b", "::1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) { checkFixedPoint(t, name) })
}

func checkFixedPoint(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, name string) {
	t.Helper()
	once, err := hostname.Normalise(name)
	if err != nil {
		return
	}
	if twice, err := hostname.Normalise(once); err != nil || twice != once {
		t.Fatalf("Normalise(%q) = %q, and of that %q, %v", name, once, twice, err)
	}
	if _, err := netip.ParseAddr(once); err == nil {
		t.Fatalf("Normalise(%q) = %q: an address", name, once)
	}
	if strings.ContainsFunc(once, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`@:%/[]\`, r) }) {
		t.Fatalf("Normalise(%q) = %q", name, once)
	}
}
