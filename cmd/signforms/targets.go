package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// dialPublic connects to addresses of the public internet alone. It looks at the address that is connected to, after the name was
// resolved: a name may stand for another address from one look to the next.
func dialPublic(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !public(target.Addr()) {
			return fmt.Errorf("webhooks to %s are denied by --deny-private-targets", target.Addr())
		}
		return nil
	}}
	return dialer.DialContext(ctx, network, addr)
}

// notPublic are the networks that no method of netip.Addr knows: the IANA registries of special-purpose addresses have them.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),      // this network
	netip.MustParsePrefix("100.64.0.0/10"),  // shared by a provider's customers; used inside clouds
	netip.MustParsePrefix("192.0.0.0/24"),   // protocol assignments
	netip.MustParsePrefix("198.18.0.0/15"),  // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),    // reserved, and broadcast
	netip.MustParsePrefix("64:ff9b::/96"),   // translated to any IPv4 address
	netip.MustParsePrefix("64:ff9b:1::/48"), // the same, locally
	netip.MustParsePrefix("2002::/16"),      // 6to4: holds an IPv4 address
	netip.MustParsePrefix("2001::/32"),      // Teredo: the same
	netip.MustParsePrefix("fec0::/10"),      // site-local, deprecated
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
