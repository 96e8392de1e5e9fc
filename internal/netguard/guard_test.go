package netguard_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"garuda/internal/netguard"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPublic(t *testing.T) {
	for _, in := range []string{
		"1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "198.17.255.255",
		"198.20.0.0", "192.0.1.0", "223.255.255.255", "11.0.0.0", "126.255.255.255", "128.0.0.0", "168.63.129.17",
		"2606:4700::1111", "2a00:1450::1", "2001:200::1", "2003::1", "3ffe:ffff::",
		"::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
	} {
		if err := netguard.Public(netip.MustParseAddr(in)); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, in := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255", "127.0.0.1",
		"127.255.255.254", "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1",
		"192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255",
		"240.0.0.1", "255.255.255.255", "168.63.129.16",
		"::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
		"::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::8.8.8.8",
		"100::1", "2001::1", "2001:0:53aa:64c:0:5efe:7f00:1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1",
		"2002:7f00:1::", "2002:808:808::1", "3fff::1", "5f00::1", "4000::1", "8000::1", "fc00::1", "fd00:ec2::254", "fd20:ce::254",
		"fe80::1", "fe80::1%eth0", "2606:4700::1111%eth0", "fec0::1", "ff02::1", "ff0e::1",
	} {
		if err := netguard.Public(netip.MustParseAddr(in)); !errors.Is(err, netguard.ErrNotPublic) {
			t.Errorf("%s counts as public (%v)", in, err)
		}
	}
	if err := netguard.Public(netip.Addr{}); !errors.Is(err, netguard.ErrNotPublic) {
		t.Errorf("no address counts as public (%v)", err)
	}
}

// What the standard library holds to be private is so in every spelling.
func TestPublicIsNeverPrivate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address")
		v4 := netip.AddrFrom4([4]byte(b))
		ip := net.IP(b)
		private := ip.IsPrivate() || ip.IsLoopback() || ip.IsMulticast() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
		spelled := []netip.Addr{v4, netip.AddrFrom16(v4.As16()), netip.MustParseAddr("64:ff9b::" + v4.String())}
		for _, addr := range spelled {
			err := netguard.Public(addr)
			if private && err == nil {
				t.Fatalf("%s counts as public", addr)
			}
			if (err == nil) != (netguard.Public(v4) == nil) {
				t.Fatalf("%s is judged unlike %s", addr, v4)
			}
		}
	})
}

// answers is a resolver that gives its answers one after the other.
type answers [][]string

func (a *answers) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	if len(*a) == 0 {
		return nil, &net.DNSError{Err: "no such host", Server: "10.9.8.7:53", Name: "x", IsNotFound: true}
	}
	var out []netip.Addr
	for _, s := range (*a)[0] {
		out = append(out, netip.MustParseAddr(s))
	}
	*a = (*a)[1:]
	return out, nil
}

func TestOnePrivateAddressRefusesTheName(t *testing.T) {
	for _, list := range [][]string{{"10.0.0.1"}, {"8.8.8.8", "127.0.0.1"}, {"2606:4700::1", "::1"}, {"8.8.8.8", "::ffff:192.168.0.1"}} {
		g := netguard.Guard{Resolver: &answers{list}}
		if got, err := g.Resolve(t.Context(), "example.com"); !errors.Is(err, netguard.ErrNotPublic) {
			t.Errorf("%v: %v, %v", list, got, err)
		}
		g = netguard.Guard{Resolver: &answers{list}}
		if _, err := g.Dial(t.Context(), "example.com", 443); !errors.Is(err, netguard.ErrNotPublic) {
			t.Errorf("%v was dialled: %v", list, err)
		}
	}
}

func TestOwnAddressesAreRefused(t *testing.T) {
	g := netguard.Guard{
		Resolver: &answers{{"203.0.114.9"}, {"64:ff9b::203.0.114.9"}, {"203.0.114.8"}},
		Own:      func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("203.0.114.9")}, nil },
	}
	for range 2 {
		if got, err := g.Resolve(t.Context(), "example.com"); !errors.Is(err, netguard.ErrNotPublic) {
			t.Errorf("%v, %v", got, err)
		}
	}
	if got, err := g.Resolve(t.Context(), "example.com"); err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if err := g.Control("tcp4", "203.0.114.9:443", nil); !errors.Is(err, netguard.ErrNotPublic) {
		t.Errorf("the socket may connect: %v", err)
	}
}

// A machine whose addresses cannot be told reaches nothing.
func TestUnknownOwnAddressesFailClosed(t *testing.T) {
	g := netguard.Guard{Resolver: &answers{{"8.8.8.8"}}, Own: func() ([]netip.Addr, error) { return nil, errors.New("no netlink") }}
	if _, err := g.Resolve(t.Context(), "example.com"); !errors.Is(err, netguard.ErrNotPublic) {
		t.Error(err)
	}
	if err := g.Control("tcp4", "8.8.8.8:443", nil); !errors.Is(err, netguard.ErrNotPublic) {
		t.Error(err)
	}
}

// The socket's own check stands by itself: no dialer with it connects to here.
func TestControl(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	d := net.Dialer{Control: new(netguard.Guard).Control}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	for _, host := range []string{"127.0.0.1", "::ffff:127.0.0.1", "localhost", "0.0.0.0"} {
		conn, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err == nil {
			conn.Close()
		}
		if !errors.Is(err, netguard.ErrNotPublic) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if err := new(netguard.Guard).Control("unix", "/run/x.sock", nil); !errors.Is(err, netguard.ErrNotPublic) {
		t.Errorf("a unix socket: %v", err)
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		address := net.JoinHostPort(a.(*net.IPNet).IP.String(), "443")
		if err := new(netguard.Guard).Control("tcp", address, nil); !errors.Is(err, netguard.ErrNotPublic) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestResolveIsBoundedAndSaysLittle(t *testing.T) {
	many := slices.Repeat([]string{"8.8.8.8"}, 65)
	g := netguard.Guard{Resolver: &answers{many, nil}}
	if _, err := g.Resolve(t.Context(), "example.com"); !errors.Is(err, netguard.ErrNotPublic) {
		t.Error(err)
	}
	if _, err := g.Resolve(t.Context(), "example.com"); err == nil {
		t.Error("a name without addresses resolved")
	}
	if _, err := g.Resolve(t.Context(), "example.com"); err == nil || strings.Contains(err.Error(), "10.9.8.7") {
		t.Errorf("the error names the machine's resolver, or there is none: %v", err)
	}
}

func TestDialEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	// 192.0.3.0/24 is public by the tables; nothing is sent: the context is over.
	g := netguard.Guard{Resolver: &answers{{"192.0.3.1", "192.0.3.2"}}}
	if conn, err := g.Dial(ctx, "example.com", 443); err == nil {
		conn.Close()
		t.Error("a cancelled dial connected")
	} else if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkControl(b *testing.B) {
	g := new(netguard.Guard)
	for b.Loop() {
		if err := g.Control("tcp4", "8.8.8.8:443", nil); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleGuard_Resolve() {
	g := netguard.Guard{Resolver: &answers{{"93.184.216.34", "169.254.169.254"}}}
	_, err := g.Resolve(context.Background(), "example.com")
	fmt.Println(err)
	// Output: example.com: the address is not public: 169.254.169.254 is link-local, where clouds serve metadata
}
