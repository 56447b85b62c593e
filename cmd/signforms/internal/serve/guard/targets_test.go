package guard

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
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

// TestSpecialNetworksAreDenied dials the first and the last address of each network, with a protocol that sends nothing.
func TestSpecialNetworksAreDenied(t *testing.T) {
	dial := dialPublic(func(netip.Addr) bool { return false })
	networks := append(prefixes("::ffff:0:0:0/96", "::/96", "fec0::/10", "ff00::/8", "224.0.0.0/4", "4000::/2"), special...)
	for _, network := range networks {
		last := network.Masked().Addr().AsSlice()
		for bit := network.Bits(); bit < len(last)*8; bit++ {
			last[bit/8] |= 0x80 >> (bit % 8)
		}
		end, _ := netip.AddrFromSlice(last)
		require.True(t, network.Contains(end))
		addresses := []netip.Addr{network.Masked().Addr(), end}
		if end.Is4() {
			addresses = append(addresses, netip.AddrFrom16(end.As16())) // the same within IPv6
		}
		for _, address := range addresses {
			_, err := dial(t.Context(), "udp", netip.AddrPortFrom(address, 9).String())
			require.ErrorContains(t, err, "are denied by --deny-private-targets", "%s of %s", address, network)
		}
	}
	for _, text := range []string{"2001:2::1", "2001:10::1", "5f00::1", "::ffff:0:7f00:1", "100:0:0:1::1", "192.31.196.1", "fe80::1%eth0"} {
		require.False(t, public(netip.MustParseAddr(text)), text)
	}
}

// A redirect is not followed, so it leads to no private target either.
func TestRedirectToAPrivateTarget(t *testing.T) {
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer private.Close()
	redirects := httptest.NewServer(http.RedirectHandler(private.URL, http.StatusTemporaryRedirect))
	defer redirects.Close()
	deny := dialPublic(ownAddress)
	service := servicetest.Start(t, &refserver.Options{DialWebhook: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == "public.test:80" {
			addr = redirects.Listener.Addr().String()
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		return deny(ctx, network, addr)
	}})
	id := service.TestWebhook(service.AddWebhook(refserver.Webhook{URL: "http://public.test/", Event: refserver.SignatureCompleted}))
	require.NoError(t, service.Settle(t.Context()))
	d, err := service.Delivery(id)
	require.NoError(t, err)
	require.Len(t, d.Attempts, 1)
	require.Equal(t, http.StatusTemporaryRedirect, d.Attempts[0].StatusCode)
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
