// Package wire holds what goes over the wire of a sandbox's control interface, and its client: the commands that act on
// a running sandbox need no more. Start with [NewClient]. Package control serves the interface.
package wire

// Prefix is the path below which the interface is served.
const Prefix = "/_/api/v1"
