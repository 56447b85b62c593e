// Package control is the HTTP interface by which a running sandbox is operated, and its client. [New] serves it below
// [Prefix], [NewClient] calls it, and docs/control.yaml describes it for other languages.
//
// It does what the methods of a [signformstest.Server] do, and nothing of its own: a test goes through those methods.
package control

// Prefix is where the interface is served.
const Prefix = "/_/api/v1"
