// Package wire has the types of a sandbox's control interface, and its client. Commands that act on
// a running sandbox need no other package. Start with [NewClient]. Package control serves the
// interface.
package wire

// Prefix is the common beginning of the paths of the interface.
const Prefix = "/_/api/v1"
