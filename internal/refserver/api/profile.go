package api

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Profile chooses what the interface description leaves open. The zero value is the reading that the project's wire format
// documents; everything else lets a client be tried against another one.
type Profile struct {
	PageSize             int                 // when the request has no limit; default 10
	InProgress           string              // literal of the status in progress; default PENDING
	RefusalStatus        int                 // status of a refusal because of the document's status; default 409
	NoPagination         bool                // lists of documents come without pagination
	CountPage            bool                // documentsCount counts the page instead of all that match
	Aliases              bool                // the other spellings: name, signType, isSigningOrderData, respondentsOfDoc, voided
	RespondentObject     bool                // a single respondent comes as an object instead of an array of one
	MessageOnly          bool                // void and reminder answer with nothing but a message
	Extra                map[string]any      // added to every 200 body, over fields of the same name
	FreeRefusedReminders bool                // a reminder that is refused does not count towards the limit
	Routes               map[Operation]Route // operations that are elsewhere
}

func (p Profile) withDefaults() Profile {
	if p.PageSize == 0 {
		p.PageSize = 10
	}
	if p.InProgress == "" {
		p.InProgress = "PENDING"
	}
	if p.RefusalStatus == 0 {
		p.RefusalStatus = http.StatusConflict
	}
	return p
}

// rewrites reports whether answers need more than what the wire structs print.
func (p Profile) rewrites() bool {
	return p.Aliases || p.RespondentObject || p.MessageOnly || p.NoPagination || len(p.Extra) > 0
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
	if p.Aliases {
		respell(m)
	}
	for k, v := range p.Extra {
		m[k] = v
	}
	return marshal(m)
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
