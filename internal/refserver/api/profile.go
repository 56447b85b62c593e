package api

import (
	"cmp"
	"net/http"
)

// Profile chooses what the interface description leaves open. The zero value is the reading that the project's wire format
// documents; everything else lets a client be tried against another one.
type Profile struct {
	PageSize     int    // when the request has no limit; default 10, of documents at most MaxLimit
	MaxLimit     int    // largest limit of a list of documents; default 100
	OldestFirst  bool   // without a sortOrder documents come oldest first
	NoPagination bool   // lists of documents come without pagination
	CountPage    bool   // documentsCount counts the page instead of all that match
	InProgress   string // literal of the status in progress; default PENDING

	RefusalStatus int // of a refusal because of the document's status; default 409
	KeyStatus     int // of a missing or wrong key or workspace; default 403
	ErrorLayout   ErrorLayout

	Routes map[Operation]Route // operations that are elsewhere
}

func (p Profile) withDefaults() Profile {
	p.MaxLimit = cmp.Or(p.MaxLimit, 100)
	p.PageSize = cmp.Or(p.PageSize, 10)
	p.InProgress = cmp.Or(p.InProgress, "PENDING")
	p.RefusalStatus = cmp.Or(p.RefusalStatus, http.StatusConflict)
	p.KeyStatus = cmp.Or(p.KeyStatus, http.StatusForbidden)
	return p
}
