package refserver

import (
	"slices"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Audit returns the audit entries of a document or form, oldest first, as far back as
// [Options].Keep allows. It returns nothing if no record has the id. Entries name people by their
// e-mail address.
func (s *Server) Audit(documentID string) (entries []AuditEntry) {
	var d signing.Document
	var trail store.Records[AuditEntry]
	s.store.View(func(tx *store.Tx) error {
		d, _ = tx.Document(documentID)
		trail = tx.Audit(documentID)
		return nil
	})
	entries = []AuditEntry{}
	for e := range trail.All() {
		entry := *e
		if i := slices.IndexFunc(d.Signers, func(s signing.Signer) bool { return s.ID == e.Actor }); i >= 0 {
			entry.Actor = d.Signers[i].Email
		}
		entries = append(entries, entry)
	}
	return entries
}
