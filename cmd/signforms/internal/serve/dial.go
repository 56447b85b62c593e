package serve

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// dialPublic returns a function that connects only to addresses of the public internet. It refuses addresses that own reports as
// this host's. It checks the address after the name was resolved, because a name may resolve differently each time.
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

// notPublic are further special-purpose networks from the IANA registries, for which netip.Addr has no method.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),     // this network
	netip.MustParsePrefix("100.64.0.0/10"), // shared by a provider's customers; used inside clouds
	netip.MustParsePrefix("192.0.0.0/24"),  // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),  // documentation, as are the next two
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), // relays of 6to4, deprecated
	netip.MustParsePrefix("198.18.0.0/15"),  // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),    // reserved, and broadcast
	netip.MustParsePrefix("::/96"),          // holds an IPv4 address, deprecated
	netip.MustParsePrefix("100::/64"),       // discard-only
	netip.MustParsePrefix("2001:db8::/32"),  // documentation
	netip.MustParsePrefix("3fff::/20"),      // documentation
	netip.MustParsePrefix("64:ff9b::/96"),   // translated to any IPv4 address
	netip.MustParsePrefix("64:ff9b:1::/48"), // the same, locally
	netip.MustParsePrefix("2002::/16"),      // 6to4: holds an IPv4 address
	netip.MustParsePrefix("2001::/32"),      // Teredo: the same
	netip.MustParsePrefix("fec0::/10"),      // site-local, deprecated
}

// ownAddress reports whether the address belongs to this host. A service that listens there may be meant for this host alone.
func ownAddress(addr netip.Addr) bool {
	own, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(own, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().Unmap() == addr.Unmap().WithZone("")
	})
}

func public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return false
	}
	for _, network := range notPublic {
		if network.Contains(addr) {
			return false
		}
	}
	return true
}
