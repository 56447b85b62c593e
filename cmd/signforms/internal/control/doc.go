// Package control is the HTTP interface by which a running sandbox is operated. [New] serves it
// below [wire.Prefix], package wire has its types and its client, and docs/control.yaml describes
// it for other languages.
//
// Its operations call the methods of a [refserver.Server]. Only relays, seeds and the format of the
// stream are defined in this package.
package control
