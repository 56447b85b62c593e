package probe

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
)

// aliases are the other spellings of a document's fields that clients have met.
var aliases = map[string]string{"documentName": "name", "signingType": "signType", "isSigningOrder": "isSigningOrderData"}

var (
	documentFields = []string{"documentId", "documentName", "documentUrl", "authorEmail", "status", "signingType",
		"isSigningOrder", "isArchived", "isAllSigned", "signers", "createdAt", "updatedAt"}
	templateFields = []string{"roles", "totalRespondants", "totalSignedRespondants"}
	listFields     = []string{"message", "documents", "documentsCount", "formCount", "pagination"}
	createdForm    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
)

// isOf reports whether a value is of the kind that the wire format gives a field of this name. Null is of every kind.
func isOf(name string, value []byte) bool {
	text := strings.TrimSpace(string(value))
	switch {
	case text == "" || text == "null":
		return text != ""
	case strings.HasPrefix(name, "is"):
		return text == "true" || text == "false"
	case name == "signers" || name == "roles":
		return text[0] == '['
	case strings.HasPrefix(name, "total"):
		return strings.ContainsAny(text[:1], digits)
	}
	return text[0] == '"' || name == "documentId" || strings.HasSuffix(name, "At") // of times there is another fact
}

// fields looks for fields that a record lacks, in any spelling, or has in another kind.
func (t *tally) fields(rec record, names []string) {
	var lacked []string
	for _, name := range names {
		if !isOf(name, rec.raw[name]) && !isOf(name, rec.raw[aliases[name]]) {
			lacked = append(lacked, name)
		}
	}
	t.see(rec.id, lacked == nil, "missing or of another kind: "+strings.Join(lacked, ", "))
}

// lookSpellings looks for the other spellings. A document that has neither leaves the fact open.
func lookSpellings(t *tally, rec record) {
	var other []string
	usual := 0
	for name, alias := range aliases {
		if value := string(rec.raw[name]); value != "null" && value != "" {
			usual++
		}
		if _, there := rec.raw[alias]; there {
			other = append(other, alias)
		}
	}
	slices.Sort(other)
	switch {
	case other != nil:
		t.see(rec.id, false, "it has "+strings.Join(other, ", "))
		if usual > 0 || len(other) < len(aliases) {
			t.doubt = "a document has some of the spellings"
		}
	case usual == len(aliases):
		t.see(rec.id, true, "")
	default:
		t.doubt = "some documents have neither spelling"
	}
}

// objects returns the objects of an array.
func objects(text []byte) (all []map[string]json.RawMessage) {
	var raws []json.RawMessage
	unmarshal(text, &raws)
	for _, raw := range raws {
		if o := object(raw); o != nil {
			all = append(all, o)
		}
	}
	return all
}

// signersOf returns the signers of a record, and of the documents made from a template that its record holds.
func signersOf(rec record) (all []map[string]json.RawMessage) {
	all = objects(rec.raw["signers"])
	for _, one := range slices.Concat(objects(rec.raw["templateRespondents"]), objects(rec.raw["respondentsOfDoc"])) {
		all = append(all, objects(one["signers"])...)
	}
	return all
}

func lookSigners(t *tally, a answer) {
	for _, rec := range a.records {
		for i, signer := range signersOf(rec) {
			var s string
			unmarshal(signer["status"], &s)
			known := slices.Contains([]string{string(signforms.SignerPending), string(signforms.SignerViewed), string(signforms.SignerSigned)}, s)
			t.see(rec.id+" "+string(rune('0'+i)), known, "another one")
		}
	}
}

func ifThen[T any](is bool, yes, no T) T {
	if is {
		return yes
	}
	return no
}
