package netguard

import (
	"fmt"
	"net/netip"
	"sync"
)

// special is a range of addresses that is no part of the public internet.
type special struct {
	prefix netip.Prefix
	name   string
}

// specials are the ranges of IANA's special-purpose registries (RFC 6890 and
// what was added since) that are not for reaching services, and the addresses at
// which clouds answer their own machines where those lie outside of them.
var specials = sync.OnceValue(func() []special {
	var out []special
	for _, row := range [][2]string{
		{"0.0.0.0/8", "this network"},
		{"10.0.0.0/8", "a private network"},
		{"100.64.0.0/10", "a carrier's private network"},
		{"127.0.0.0/8", "this machine"},
		{"168.63.129.16/32", "a cloud's metadata service"},
		{"169.254.0.0/16", "link-local, where clouds serve metadata"},
		{"172.16.0.0/12", "a private network"},
		{"192.0.0.0/24", "reserved for protocols"},
		{"192.0.2.0/24", "for documentation"},
		{"192.88.99.0/24", "6to4 relays"},
		{"192.168.0.0/16", "a private network"},
		{"198.18.0.0/15", "for benchmarks"},
		{"198.51.100.0/24", "for documentation"},
		{"203.0.113.0/24", "for documentation"},
		{"224.0.0.0/4", "multicast"},
		{"240.0.0.0/4", "reserved"},
		{"2001::/32", "Teredo"},
		{"2001::/23", "reserved for protocols"},
		{"2001:db8::/32", "for documentation"},
		{"2002::/16", "6to4"},
		{"3fff::/20", "for documentation"},
		{"::1/128", "this machine"},
		{"fc00::/7", "a private network"},
		{"fe80::/10", "link-local"},
		{"ff00::/8", "multicast"},
		// All global unicast addresses of IPv6 lie in 2000::/3; what is left is
		// compatible, translated, discarded, site-local or not given to anybody.
		{"::/3", "not public"},
		{"4000::/2", "not public"},
		{"8000::/1", "not public"},
	} {
		out = append(out, special{netip.MustParsePrefix(row[0]), row[1]})
	}
	return out
})

// nat64 is the prefix under which networks without IPv4 show it (RFC 6052). The
// prefix for private translations, 64:ff9b:1::/48, is not public.
var nat64 = netip.PrefixFrom(netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b}), 96)

// Public returns nil when an address belongs to the public internet, and else an
// error that says what it is. An IPv4 address counts as itself also where it is
// written as IPv6 (mapped, or NAT64's common prefix). The machine's own addresses
// may be public ones: Guard checks those.
func Public(addr netip.Addr) error {
	if !addr.IsValid() {
		return fmt.Errorf("%w: no address", ErrNotPublic)
	}
	if addr.Zone() != "" {
		return fmt.Errorf("%w: %s has a zone", ErrNotPublic, addr)
	}
	plain := plain(addr)
	for _, s := range specials() {
		if s.prefix.Contains(plain) {
			return fmt.Errorf("%w: %s is %s", ErrNotPublic, addr, s.name)
		}
	}
	return nil
}

// plain is the IPv4 address that an IPv6 one stands for, or the address itself.
func plain(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		b := addr.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr
}
