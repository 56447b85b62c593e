// Package refserver is the reference service while it runs: its clock, records and acts, webhooks, faults, logs, files
// and storage. Package signformstest shows it to tests, and the program signforms serves it.
//
// A workspace is a server of its own: Options.Behind puts several at one address.
package refserver
