package signformstest

import (
	"net/http"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Network is a network in memory, with names instead of ports, for a service, its client and its webhook receivers. It
// never touches a socket, so all of them can run inside a [testing/synctest] bubble, where hours pass in no time:
//
//	synctest.Test(t, func(t *testing.T) {
//		network := signformstest.NewNetwork()
//		defer network.Close()
//		srv := signformstest.NewServer(t, &signformstest.Options{Network: network})
//		defer srv.Close()
//		srv.AddWebhook(signformstest.Webhook{
//			URL: network.Serve("app.test", handler), Event: signformstest.TemplateResponse,
//		})
//		…
//		time.Sleep(48 * time.Hour) // what the handler refused was retried
//		err := srv.Settle(t.Context())
//	})
//
// TestTwoVirtualDays in this package's tests is the whole of it.
type Network struct{ ref *refserver.Network }

// NewNetwork returns an empty network. The caller closes it, after its servers.
func NewNetwork() *Network { return &Network{ref: refserver.NewNetwork()} }

// Serve serves h under a host name of this network, such as "app.test", until the network is closed, and returns the URL.
// It panics when the name is taken.
func (n *Network) Serve(host string, h http.Handler) (url string) {
	url, err := n.ref.Serve(host, h)
	if err != nil {
		panic("signformstest: " + err.Error())
	}
	return url
}

// HTTPClient returns a client that reaches this network and nothing else.
func (n *Network) HTTPClient() *http.Client { return &http.Client{Transport: n.ref.Transport()} }

// Close breaks every connection and returns when no goroutine of the network is left.
func (n *Network) Close() { n.ref.Close() }
