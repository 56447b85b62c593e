package signforms

import "strings"

// DocumentStatus is the status of a document. Unknown values are kept as received.
type DocumentStatus string

// The statuses of documents. The text PENDING, for a document in progress, is not documented by the service.
const (
	StatusDraft    DocumentStatus = "DRAFT"
	StatusPending  DocumentStatus = "PENDING"
	StatusSigned   DocumentStatus = "SIGNED"
	StatusPaid     DocumentStatus = "PAID"
	StatusDeclined DocumentStatus = "DECLINED"
	StatusExpired  DocumentStatus = "EXPIRED"
	StatusDeleted  DocumentStatus = "DELETED"
	StatusVoid     DocumentStatus = "VOID" // also read from "voided" in any case
)

// DocumentStatuses returns the known statuses of documents, in the order of their constants.
func DocumentStatuses() []DocumentStatus {
	return []DocumentStatus{StatusDraft, StatusPending, StatusSigned, StatusPaid, StatusDeclined, StatusExpired, StatusDeleted, StatusVoid}
}

// CanVoid reports whether the service's description allows voiding in this status. It is true for VOID, where a repeat
// changes nothing, and for DRAFT and unknown statuses, where the service decides.
func (s DocumentStatus) CanVoid() bool {
	switch s {
	case StatusSigned, StatusPaid, StatusDeclined, StatusExpired, StatusDeleted:
		return false
	}
	return true
}

// CanRemind reports whether the service's description allows reminding in this status. It is true for PAID, where nobody is
// pending and so nobody is reminded, and for DRAFT and unknown statuses, where the service decides.
func (s DocumentStatus) CanRemind() bool {
	switch s {
	case StatusSigned, StatusVoid, StatusExpired, StatusDeclined, StatusDeleted:
		return false
	}
	return true
}

func (s DocumentStatus) normal() DocumentStatus {
	if strings.EqualFold(string(s), "voided") {
		return StatusVoid
	}
	return s
}

// SignerStatus is the status of one signer. Unknown values are kept as received. DRAFT and the empty string were seen too; they
// have no constant here, as only webhook events are known to have DRAFT.
type SignerStatus string

// The statuses of signers.
const (
	SignerPending SignerStatus = "PENDING"
	SignerViewed  SignerStatus = "VIEWED"
	SignerSigned  SignerStatus = "SIGNED"
)

// SigningType distinguishes PDF documents from templates. Unknown values are kept as received.
type SigningType string

// The signing types of documents.
const (
	TypePDF         SigningType = "PDF"
	TypePDFTemplate SigningType = "PDF_TEMPLATE"

	typeForm SigningType = "FORM_TEMPLATE" // of a send
)

// SortOrder is the order of a list by time of creation. Documents created at the same time are assumed to be ordered by id (not
// documented by the service).
type SortOrder string

// The sort orders. The service's default is NewestFirst.
const (
	OldestFirst SortOrder = "asc"
	NewestFirst SortOrder = "desc"
)
