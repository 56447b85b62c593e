package refserver

import (
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// AuditEntry is one line of the audit trail of a document or a form. Entries are never changed. The From of each entry is the
// To of the one before, and the last To is the document's status.
type AuditEntry struct {
	ID       int64     `json:"id"`       // from 1, ascending over all records
	RecordID string    `json:"recordId"` // the document or the form
	At       time.Time `json:"at"`
	Action   string    `json:"action"`         // "create", "send", "view", "sign", "complete" (the last signature), "decline", "pay", "void", "remind", "expire", "delete", "archive", "finish" (of the finished file), "submit" (of a form)
	Actor    string    `json:"actor"`          // the signer's e-mail address, or "author", "service" or "respondent"
	From     string    `json:"from,omitempty"` // status of the document before, as in "PENDING"; empty for its first entry, and for forms
	To       string    `json:"to,omitempty"`   // status after it
	Note     string    `json:"note,omitempty"` // the reason of a decline, how many were reminded; may be empty

	IP        string `json:"ip,omitempty"`        // from which a signer or respondent acted; empty for others
	UserAgent string `json:"userAgent,omitempty"` // with which they did; may be empty
}

// String describes the entry in one line without personal data.
func (e AuditEntry) String() string {
	line := e.At.Format(time.RFC3339) + " " + e.Action
	switch {
	case e.From != e.To && e.From != "":
		line += ": " + e.From + " to " + e.To
	case e.To != "":
		line += ": " + e.To
	}
	return line
}

// Audit returns what was done to a document or form, oldest first, as far as [Options].Keep goes back. It is empty when no record
// has the id.
func (s *Server) Audit(documentID string) []AuditEntry {
	var d signing.Document
	var entries store.Records[signing.AuditEntry]
	s.store.View(func(tx *store.Tx) error {
		d, _ = tx.Document(documentID)
		entries = tx.Audit(documentID)
		return nil
	})
	return convertRecords(entries, func(e signing.AuditEntry) AuditEntry { return publicAuditEntry(e, d) })
}
