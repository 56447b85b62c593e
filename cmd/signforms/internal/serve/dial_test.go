package serve

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPublicAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "203.0.114.1": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "127.9.9.9": false, "::1": false, "0.0.0.0": false, "::": false, "10.1.2.3": false, "172.16.0.1": false,
		"192.168.1.1": false, "169.254.169.254": false, "fe80::1": false, "fd00::1": false, "::ffff:127.0.0.1": false,
		"::ffff:10.0.0.1": false, "100.64.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false,
		"0.1.2.3": false, "198.18.0.1": false, "fec0::1": false,
		"::7f00:1": false, "192.0.2.2": false, "198.51.100.7": false, "203.0.113.9": false, "192.88.99.1": false, "100::1": false, "2001:db8::1": false,
	} {
		require.Equal(t, want, public(netip.MustParseAddr(text)), text)
	}
}

// TestOwnAddresses: a service on a public address of this host may be meant for this host alone.
func TestOwnAddresses(t *testing.T) {
	require.True(t, ownAddress(netip.MustParseAddr("127.0.0.1")), "of the loopback interface")
	require.True(t, ownAddress(netip.MustParseAddr("::ffff:127.0.0.1")))
	require.False(t, ownAddress(netip.MustParseAddr("8.8.8.8")))
}

// TestOwnPublicAddressIsDenied: a public address of this host is refused when it is dialled, before anything is sent to it.
func TestOwnPublicAddressIsDenied(t *testing.T) {
	var asked []netip.Addr
	dial := dialPublic(func(addr netip.Addr) bool {
		asked = append(asked, addr)
		return true
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := dial(ctx, "tcp", "203.0.114.1:9")
	require.ErrorContains(t, err, "webhooks to 203.0.114.1 are denied by --deny-private-targets")
	require.Equal(t, []netip.Addr{netip.MustParseAddr("203.0.114.1")}, asked)
	_, err = dialPublic(func(netip.Addr) bool { return false })(ctx, "tcp", "192.168.77.1:9")
	require.ErrorContains(t, err, "webhooks to 192.168.77.1 are denied by --deny-private-targets", "of another host")
}
