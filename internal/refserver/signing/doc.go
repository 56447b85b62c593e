// Package signing holds the records of the reference service and the rules that change them.
//
// Everything here is pure: a command takes a record and the time, and returns a [Change] (the new record with its audit
// entries, events and messages) or a [*Refusal]. Nothing is stored, sent or looked up; package store commits a Change
// as one transaction. Start with [Next], the table of what each status allows, then [Document] and its commands.
//
// Records are values. Their slices are shared between copies and are never written to after a record was returned: a
// command that changes a signer clones the signers first.
package signing
