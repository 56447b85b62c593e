package signforms

import "strings"

// DocumentStatus is where a document stands. Values that this package does not know are kept as they came.
type DocumentStatus string

// The statuses of documents. The literal of PENDING, a document in progress, is not documented by the service.
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

// CanVoid is false only where the service's description forbids voiding. It is true for VOID, where a repeat changes
// nothing, for DRAFT and for unknown statuses: there the service decides.
func (s DocumentStatus) CanVoid() bool {
	switch s {
	case StatusSigned, StatusPaid, StatusDeclined, StatusExpired, StatusDeleted:
		return false
	}
	return true
}

// CanRemind is false only where the service's description forbids reminding. It is true for PAID, which is not in its
// list (with nobody pending, nobody is reminded), and for unknown statuses.
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

// SignerStatus is where one signer stands. DRAFT and the empty string have been seen too; values that this package does not
// know are kept as they came.
type SignerStatus string

// The statuses of signers.
const (
	SignerPending SignerStatus = "PENDING"
	SignerViewed  SignerStatus = "VIEWED"
	SignerSigned  SignerStatus = "SIGNED"
)

// SigningType tells PDF documents and templates apart. Values that this package does not know are kept as they came.
type SigningType string

// The signing types of documents.
const (
	TypePDF         SigningType = "PDF"
	TypePDFTemplate SigningType = "PDF_TEMPLATE"

	typeForm SigningType = "FORM_TEMPLATE" // of a send
)

// SortOrder is the order of a list, always by creation; equal times are ordered by document id.
type SortOrder string

// The sort orders. The service's default is NewestFirst.
const (
	OldestFirst SortOrder = "asc"
	NewestFirst SortOrder = "desc"
)
