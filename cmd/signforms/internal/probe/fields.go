package probe

import (
	"context"
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

func has(records []record, name string) bool {
	return slices.ContainsFunc(records, func(rec record) bool { _, ok := rec.raw[name]; return ok })
}

// lacking returns the fields that no record has, in any spelling.
func lacking(records []record, names []string) (none []string) {
	for _, name := range names {
		if !has(records, name) && !has(records, aliases[name]) {
			none = append(none, name)
		}
	}
	return none
}

// fields checks the fields of the documents that were seen and of their lists, without further requests.
func (r *run) fields(context.Context) {
	r.others()
	if len(r.sample) == 0 || r.sample[0].raw == nil {
		return
	}
	var alien []string
	usual := false
	for name, alias := range aliases {
		usual = usual || has(r.sample, name)
		if has(r.sample, alias) && !has(r.sample, name) {
			alien = append(alien, alias)
		}
	}
	if slices.Sort(alien); usual || len(alien) > 0 {
		r.check("spellings", len(alien) == 0, "%s", ifThen(len(alien) == 0, "as named", "documents have "+strings.Join(alien, ", ")))
		r.report.Profile.Aliases = len(alien) > 0
	}
	fields := documentFields
	if !slices.ContainsFunc(r.sample, func(rec record) bool { return statusOf(rec) == "SIGNED" }) {
		fields = slices.DeleteFunc(slices.Clone(fields), func(name string) bool { return name == "finishedPdfUrl" })
	}
	none := lacking(r.sample, fields)
	r.check("document fields", len(none) == 0, "%s", ifThen(len(none) == 0, "all are there", "missing: "+strings.Join(none, ", ")))
	odd, created, signers := 0, 0, 0
	for _, rec := range r.sample {
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
	r.check("created format", created == 0, "%d of %d documents have another form", created, len(r.sample))
	if signers > 0 {
		r.check("signer statuses", odd == 0, "%d of %d signers have another one", odd, signers)
	}
}

func ifThen(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// others finds fields of the list that the wire format does not name. For the profile it keeps only what kind of value they have.
func (r *run) others() {
	extra := map[string]any{}
	var names []string
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
	if slices.Sort(names); len(r.first.raw) > 0 {
		r.check("other fields", len(names) == 0, "%s", ifThen(len(names) == 0, "none", strings.Join(names, ", ")))
	}
	if len(names) > 0 {
		r.report.Profile.Extra = extra
	}
}
