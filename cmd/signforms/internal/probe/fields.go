package probe

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// aliases are the other spellings of a document's fields that clients have met.
var aliases = map[string]string{"documentName": "name", "signingType": "signType", "isSigningOrder": "isSigningOrderData"}

var (
	documentFields = []string{"documentId", "documentName", "documentUrl", "finishedPdfUrl", "authorEmail", "status", "signingType",
		"isSigningOrder", "isArchived", "isAllSigned", "signers", "createdAt", "updatedAt"}
	listFields  = []string{"message", "documents", "documentsCount", "formCount", "pagination"}
	createdForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	fieldName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,40}$`)
)

// fields checks the fields of the documents in the sample and of their list, without further requests.
func (r *run) fields(context.Context) error {
	if len(r.sample) == 0 {
		return nil
	}
	r.spellings()
	r.missing()
	r.others()
	odd, signers := 0, 0
	created := 0
	for _, d := range r.sample {
		if at, _ := d["createdAt"].(string); !createdForm.MatchString(at) {
			created++
		}
		for _, s := range signerStatuses(d) {
			signers++
			if !slices.Contains([]string{"PENDING", "VIEWED", "SIGNED"}, s) {
				odd++
			}
		}
	}
	r.check("created format", created == 0, "%d of %d documents have another form", created, len(r.sample))
	if signers > 0 {
		r.check("signer statuses", odd == 0, "%d of %d signers have another one", odd, signers)
	}
	return nil
}

func signerStatuses(d record) (statuses []string) {
	list, _ := d["signers"].([]any)
	for _, e := range list {
		if s, _ := e.(map[string]any); s != nil {
			status, _ := s["status"].(string)
			statuses = append(statuses, status)
		}
	}
	return statuses
}

func (r *run) spellings() {
	var other []string
	seen := 0
	for _, d := range r.sample {
		for name, alias := range aliases {
			_, usual := d[name]
			_, alien := d[alias]
			if usual || alien {
				seen++
			}
			if alien && !usual && !slices.Contains(other, alias) {
				other = append(other, alias)
			}
		}
	}
	slices.Sort(other)
	switch {
	case seen == 0:
		r.say("spellings", CannotTell, "documents have neither")
	case len(other) > 0:
		r.say("spellings", Differs, "documents have %s", strings.Join(other, ", "))
		r.report.Profile.Aliases = true
	default:
		r.say("spellings", Holds, "as named")
	}
}

// missing finds the fields that no document of the sample has, in any spelling.
func (r *run) missing() {
	var none []string
	signed := slices.ContainsFunc(r.sample, func(d record) bool { return d["status"] == "SIGNED" })
	for _, name := range documentFields {
		if name == "finishedPdfUrl" && !signed {
			continue
		}
		there := slices.ContainsFunc(r.sample, func(d record) bool {
			_, usual := d[name]
			_, alien := d[aliases[name]]
			return usual || alien
		})
		if !there {
			none = append(none, name)
		}
	}
	r.check("document fields", len(none) == 0, "%s", ifThen(len(none) == 0, "all are there", "missing: "+strings.Join(none, ", ")))
}

// others finds fields of the list that the wire format does not name. It keeps their values for the profile.
func (r *run) others() {
	extra := map[string]any{}
	var names []string
	for _, a := range r.report.Asked {
		var object map[string]any
		if a.Status != 200 || a.Path != r.path("list documents") || json.Unmarshal(a.Body, &object) != nil {
			continue
		}
		for name, value := range object {
			if !slices.Contains(listFields, name) && extra[name] == nil {
				extra[name] = value
				names = append(names, ifThen(fieldName.MatchString(name), name, "one that is not a name"))
			}
		}
	}
	slices.Sort(names)
	r.check("other fields", len(names) == 0, "%s", ifThen(len(names) == 0, "none", strings.Join(names, ", ")))
	if len(extra) > 0 {
		r.report.Profile.Extra = extra
	}
}

func (r *run) templateFields(templates []record) {
	if len(templates) == 0 {
		return
	}
	var none []string
	for _, name := range []string{"roles", "totalRespondants", "totalSignedRespondants"} {
		if !slices.ContainsFunc(templates, func(t record) bool { _, ok := t[name]; return ok }) {
			none = append(none, name)
		}
	}
	r.check("template fields", len(none) == 0, "%s", ifThen(len(none) == 0, "all are there", "missing: "+strings.Join(none, ", ")))
}
