package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// Profile chooses what the interface description leaves open. The zero value is the reading that the project's wire format
// documents; everything else lets a client be tried against another one.
type Profile struct {
	// Lists.
	PageSize       int  // when the request has no limit; default 10, of documents at most MaxLimit
	MaxLimit       int  // largest limit of a list of documents; default 100
	CutLimit       bool // a larger limit is taken for MaxLimit instead of being refused
	OldestFirst    bool // without a sortOrder documents come oldest first
	HideArchived   bool // without archive a list holds no archived documents
	UnknownStatus  UnknownStatus
	DateFormat     DateFormat
	DateFrom       DateEnd
	DateTo         DateEnd
	NoPagination   bool // lists of documents come without pagination
	CountPage      bool // documentsCount counts the page instead of all that match
	None           NoneForm
	UnknownIDEmpty bool // respondents or responses of an unknown id are an empty list instead of a 404

	// Spellings and bodies.
	InProgress       string         // literal of the status in progress; default PENDING
	Aliases          bool           // the other spellings: name, signType, isSigningOrderData, respondentsOfDoc, voided
	RespondentObject bool           // a single respondent comes as an object instead of an array of one
	MessageOnly      bool           // void and reminder answer with nothing but a message
	Extra            map[string]any // added to every 200 body, over fields of the same name
	BarePDF          bool           // pdfData is base64 alone instead of a data URL
	StrictRoles      bool           // a template's send must fill each role exactly once

	// Refusals.
	RefusalStatus        int // of a refusal because of the document's status; default 409
	KeyStatus            int // of a missing or wrong key or workspace; default 403
	ErrorLayout          ErrorLayout
	AnyID                bool // an id of another shape is unknown instead of malformed
	FreeRefusedReminders bool // a reminder that is refused does not count towards the limit

	// IgnoreIDs makes lists ignore documentId, and makes void and reminder act on the newest PDF document. A service that reads
	// its inputs elsewhere, and takes the first record when it finds none, behaves so.
	IgnoreIDs bool

	Routes map[Operation]Route // operations that are elsewhere
}

// UnknownStatus says what a list does with an unknown status as filter.
type UnknownStatus int

// The readings of an unknown status.
const (
	UnknownStatusRefused UnknownStatus = iota // 400
	UnknownStatusIgnored                      // the list is not filtered
	UnknownStatusEmpty                        // the list is empty
)

// NoneForm is how a list without records is written.
type NoneForm int

// The forms of an empty list.
const (
	NoneIsEmpty   NoneForm = iota // an empty array
	NoneIsMissing                 // the list's key is not there
	NoneIsNull
)

func (p Profile) withDefaults() Profile {
	p.MaxLimit = cmp.Or(p.MaxLimit, 100)
	p.PageSize = cmp.Or(p.PageSize, 10)
	p.InProgress = cmp.Or(p.InProgress, "PENDING")
	p.RefusalStatus = cmp.Or(p.RefusalStatus, http.StatusConflict)
	p.KeyStatus = cmp.Or(p.KeyStatus, http.StatusForbidden)
	return p
}

// rewrites reports whether answers need more than what the wire structs print.
func (p Profile) rewrites() bool {
	return p.Aliases || p.RespondentObject || p.MessageOnly || p.NoPagination || p.None != NoneIsEmpty || len(p.Extra) > 0
}

// aliases maps the spellings of the wire structs to the other ones seen.
var aliases = map[string]string{
	"documentName":        "name",
	"signingType":         "signType",
	"isSigningOrder":      "isSigningOrderData",
	"templateRespondents": "respondentsOfDoc",
}

// rewrite turns a 200 body into the profile's form of it.
func (p Profile) rewrite(op Operation, body []byte) ([]byte, error) {
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	if p.MessageOnly && (op == VoidDocument || op == SendReminder) {
		m = map[string]any{"message": m["message"]}
	}
	if p.NoPagination && op == ListDocuments {
		delete(m, "pagination")
	}
	if list, _ := m["respondents"].([]any); p.RespondentObject && len(list) == 1 {
		m["respondents"] = list[0]
	}
	p.None.rewrite(m)
	if p.Aliases {
		respell(m)
	}
	for k, v := range p.Extra {
		m[k] = v
	}
	return marshal(m)
}

// rewrite writes an answer's list in this form if it is empty.
func (f NoneForm) rewrite(answer map[string]any) {
	for _, key := range []string{"documents", "respondents", "responses"} {
		list, ok := answer[key].([]any)
		if !ok || len(list) > 0 {
			continue
		}
		switch f {
		case NoneIsMissing:
			delete(answer, key)
		case NoneIsNull:
			answer[key] = nil
		}
	}
}

// respell changes field names, and VOID to voided, at every depth.
func respell(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			respell(e)
		}
	case map[string]any:
		for k, e := range v {
			respell(e)
			if other, ok := aliases[k]; ok {
				delete(v, k)
				v[other] = e
			}
		}
		if s, _ := v["status"].(string); strings.EqualFold(s, "VOID") {
			v["status"] = "voided"
		}
	}
}
