package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
)

// aliases are the other spellings of a document's fields that clients have met.
var aliases = map[string]string{"documentName": "name", "signingType": "signType", "isSigningOrder": "isSigningOrderData"}

var (
	documentFields = []string{"documentId", "documentName", "documentUrl", "finishedPdfUrl", "authorEmail", "status", "signingType",
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

// lacking returns the fields that some of the records lack, in any spelling, or have in another kind.
func lacking(records []record, names []string) (lacked []string) {
	for _, name := range names {
		if slices.ContainsFunc(records, func(rec record) bool {
			signed := name != "finishedPdfUrl" || statusOf(rec) == "SIGNED"
			return signed && !isOf(name, rec.raw[name]) && !isOf(name, rec.raw[aliases[name]])
		}) {
			lacked = append(lacked, name)
		}
	}
	return lacked
}

// sayFields notes whether the records have all fields.
func (r *run) sayFields(fact string, records []record, names []string) {
	lacked := lacking(records, names)
	lack := 0
	for _, rec := range records {
		if len(lacking([]record{rec}, names)) > 0 {
			lack++
		}
	}
	r.check(fact, lack == 0, "%s", ifThen(lack == 0, "all are there", fmt.Sprintf("missing or of another kind in %d of %d: %s", lack, len(records), strings.Join(lacked, ", "))))
}

// everything returns each document that a list without a filter held in this run, once.
func (r *run) everything() (all []record) {
	known := map[string]bool{}
	for _, a := range r.seen {
		for _, rec := range a.records {
			if rec.raw != nil && rec.id != "" && !known[rec.id] {
				known[rec.id] = true
				all = append(all, rec)
			}
		}
	}
	return all
}

// fields checks the fields of the documents that were seen and of their lists, without further requests.
func (r *run) fields(context.Context) {
	r.pagination()
	r.others()
	all := r.everything()
	if len(all) == 0 {
		return
	}
	r.spellings(all)
	r.sayFields("document fields", all, documentFields)
	odd, created, signers := 0, 0, 0
	for _, rec := range all {
		if at := ""; !unmarshal(rec.raw["createdAt"], &at) || !createdForm.MatchString(at) {
			created++
		}
		for _, s := range rec.doc.Signers {
			signers++
			if !slices.Contains([]signforms.SignerStatus{signforms.SignerPending, signforms.SignerViewed, signforms.SignerSigned}, s.Status) {
				odd++
			}
		}
	}
	r.check("created format", created == 0, "%d of %d documents have another form", created, len(all))
	if signers > 0 {
		r.check("signer statuses", odd == 0, "%d of %d signers have another one", odd, signers)
	}
}

// spellings holds when each document has all usual spellings, and differs when one has another.
func (r *run) spellings(all []record) {
	var alien []string
	usual, other := 0, 0
	for name, alias := range aliases {
		for _, rec := range all {
			if string(rec.raw[name]) != "null" && rec.raw[name] != nil {
				usual++
			}
			if _, there := rec.raw[alias]; there {
				other++
				alien = append(alien, alias)
			}
		}
	}
	slices.Sort(alien)
	switch whole := len(aliases) * len(all); {
	case other > 0:
		r.say("spellings", Differs, "documents have %s", strings.Join(slices.Compact(alien), ", "))
		r.report.Profile.Aliases = other == whole && usual == 0
	case usual == whole:
		r.say("spellings", Holds, "as named, in %d documents", len(all))
	default:
		r.say("spellings", CannotTell, "some documents have neither spelling")
	}
}

func ifThen[T any](is bool, yes, no T) T {
	if is {
		return yes
	}
	return no
}

// others finds fields that the wire format does not name. For the profile it keeps of those of the first list what kind of value
// they have.
func (r *run) others() {
	extra := map[string]any{}
	names, inside := []string{}, r.unnamed()
	for name, value := range object(r.first.raw) {
		if slices.Contains(listFields, name) {
			continue
		}
		key := knownName(name)
		if key == "" {
			key = "field" + string(rune('A'+min(len(names), 25)))
		}
		names = append(names, key)
		switch text := string(value); {
		case text == "true" || text == "false":
			extra[name] = text == "true"
		case strings.ContainsAny(text[:1], "-0123456789"):
			extra[name] = 0
		default:
			extra[name] = ""
		}
	}
	slices.Sort(names)
	switch {
	case len(names) > 0:
		r.say("other fields", Differs, "%s", strings.Join(names, ", "))
	case inside > 0:
		r.say("other fields", Differs, "%d in other lists, in pagination or in documents", inside)
	case len(r.first.raw) > 0:
		r.say("other fields", Holds, "none")
	}
	if len(names) > 0 {
		r.report.Profile.Extra = extra
	}
}

// unnamed returns how many names of fields of lists, their pagination and documents the wire format does not have.
func (r *run) unnamed() int {
	odd := map[string]bool{}
	note := func(where string, fields map[string]json.RawMessage, known []string) {
		for name := range fields {
			if !slices.Contains(known, name) {
				odd[where+name] = true
			}
		}
	}
	for _, a := range r.seen {
		list := object(a.raw)
		note("list ", list, listFields)
		note("pagination ", object(list["pagination"]), []string{"currentPage", "totalPages", "totalDocuments"})
	}
	for _, rec := range r.everything() {
		note("document ", rec.raw, slices.Concat(documentFields, templateFields, slices.Collect(maps.Values(aliases)), []string{"templateRespondents", "respondentsOfDoc"}))
	}
	return len(odd)
}
