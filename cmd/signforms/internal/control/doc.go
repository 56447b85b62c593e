// Package control is the HTTP interface by which a running sandbox is operated, and its client. [New] serves it below
// [Prefix], [NewClient] calls it, and docs/control.yaml describes it for other languages.
//
// Its operations call the methods of a [signformstest.Server]. Only relays, seeds and the stream's format are its own. A test
// checks that every method has a route, or a reason for having none.
package control

// Prefix is the path below which the interface is served.
const Prefix = "/_/api/v1"
