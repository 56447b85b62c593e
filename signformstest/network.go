package signformstest

import (
	"net/http"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Network is a network in memory, with names instead of ports, for a service, its client and its
// webhook receivers. A Network uses no socket, so all of them can run inside a [testing/synctest]
// bubble. The package documentation has an example. A Network is safe for concurrent use.
type Network struct{ memory *refserver.Network }

// NewNetwork returns an empty network. The caller closes it, after its servers.
func NewNetwork() *Network { return &Network{refserver.NewNetwork()} }

// HTTPClient returns a client that reaches this network and nothing else.
func (n *Network) HTTPClient() *http.Client { return n.memory.HTTPClient() }

// Serve serves h under a host name of this network, such as "app.test", until the network is
// closed. It returns the URL. Serve panics if the name is taken or the network is closed.
func (n *Network) Serve(host string, h http.Handler) (url string) { return n.memory.Serve(host, h) }

// Close breaks every connection and returns when no goroutine of the network is left. It may be called more than once.
func (n *Network) Close() { n.memory.Close() }
