// Package signing has the records of the reference service and the rules that change them.
//
// Everything in this package is pure. A command takes a record and the time. It returns a [Change],
// which is the new record with its audit entries, events and messages, or a [*Refusal]. Nothing is
// stored, sent or looked up; package store commits a Change as one transaction.
//
// Start with [Next], the table of the actions that each status allows. Continue with [Document] and
// its commands.
//
// Records are values. Their slices are shared between copies and are never written to after a
// record was returned. A command that changes a signer clones the signers first.
package signing
