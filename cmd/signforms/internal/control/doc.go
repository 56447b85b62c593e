// Package control is the HTTP interface by which a running sandbox is operated. [New] serves it below
// [wire.Prefix], package wire has its types and its client, and docs/control.yaml describes it for other languages.
//
// Its operations call the methods of a [refserver.Server]. Only relays, seeds and the stream's format are its own. A
// test checks that every method has a route, or a reason for having none.
package control
