// Package refserver is the running reference service: its clock, records and acts, webhooks,
// faults, logs, files and storage. Tests use it through package signformstest, and the program
// signforms serves it.
//
// A workspace is a separate Server. With Options.Behind, several servers share one address.
package refserver
