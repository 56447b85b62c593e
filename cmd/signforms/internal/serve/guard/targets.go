package guard

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// DialPublic connects only to addresses of the public internet that do not belong to this host. It
// checks the address after the name was resolved, because a name may resolve to a different address
// each time.
func DialPublic(ctx context.Context, network, addr string) (net.Conn, error) {
	return dialPublic(ownAddress)(ctx, network, addr)
}

// dialPublic returns DialPublic for a host whose addresses own reports.
func dialPublic(own func(netip.Addr) bool) func(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !public(target.Addr()) || own(target.Addr()) {
			return fmt.Errorf("webhooks to %s are denied by --deny-private-targets", target.Addr())
		}
		return nil
	}}
	return dialer.DialContext
}

// special are the networks of the IANA IPv4 and IPv6 Special-Purpose Address Registries, as of 2026-11-22, whether or
// not they are globally reachable: no receiver of webhooks is in them.
// https://www.iana.org/assignments/iana-ipv4-special-registry and
// https://www.iana.org/assignments/iana-ipv6-special-registry name the purposes.
var special = prefixes(
	"0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29",
	"192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
	"192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"255.255.255.255/32",
	"::1/128", "::/128", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32", "2001:1::1/128",
	"2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28", "2001:20::/28", "2001:30::/28",
	"2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
) // and ::ffff:0:0/96, for which public checks the embedded IPv4 address

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// globalUnicast is the only part of IPv6 from which addresses of the internet are assigned. Outside
// of it are ::/96 and ::ffff:0:0:0/96, which contain an IPv4 address, and the former site-local
// addresses.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// ownAddress reports whether the address belongs to this host. A service that listens on such an
// address may be meant for this host only.
func ownAddress(addr netip.Addr) bool {
	own, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(own, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().Unmap() == addr.Unmap().WithZone("")
	})
}

func public(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if !addr.IsGlobalUnicast() || addr.Is6() && !globalUnicast.Contains(addr) {
		return false
	}
	return !slices.ContainsFunc(special, func(network netip.Prefix) bool { return network.Contains(addr) })
}
