package probe

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

func (r *run) askRespondents(ctx context.Context, p signforms.RespondentListParams, set ...string) answer {
	return r.ask(ctx, question{set: set, do: func(ctx context.Context, c *signforms.Client) (page, error) {
		list, err := c.Templates.Respondents(ctx, p)
		return pageOf(list, err, "respondents", func(s *signforms.Respondent) record { return record{id: s.RespondentDocumentID, created: s.CreatedAt} })
	}})
}

func (r *run) askResponses(ctx context.Context, form string, set ...string) answer {
	return r.ask(ctx, question{set: set, do: func(ctx context.Context, c *signforms.Client) (page, error) {
		list, err := c.Forms.Responses(ctx, signforms.ResponseListParams{FormID: form})
		return pageOf(list, err, "responses", func(s *signforms.FormResponse) record { return record{id: s.ResponseID, created: s.SubmittedAt} })
	}})
}

// respondents asks for the respondents of an unknown template, and for a single respondent.
func (r *run) respondents(ctx context.Context) {
	template, respondent, known := r.template(ctx)
	id := randomID()
	unknown := r.askRespondents(ctx, signforms.RespondentListParams{TemplateID: id})
	if known.ok() && len(known.records) > 0 && known.records[0].id != "" {
		r.say("list respondents", Holds, "those of a template, read by the SDK")
	} else {
		bare := func() answer {
			return r.askRespondents(ctx, signforms.RespondentListParams{TemplateID: id}, "templateId", "")
		}
		if !r.presence(ctx, "list respondents", "respondents", unknown, bare) {
			if template != "" && r.outcomes["list respondents"].Outcome == CannotTell && known.Status == http.StatusNotFound && !unlike(known, r.controls(ctx, known)) {
				r.say("list respondents", Differs, "those of a template that the service lists: %s, as for paths that do not exist", known.short())
			}
			return
		}
	}
	r.noneOf("unknown template", unknown)
	if respondent == "" {
		r.say("one respondent", CannotTell, "no template was sent")
		return
	}
	one := r.askRespondents(ctx, signforms.RespondentListParams{RespondentDocumentID: respondent})
	value := strings.TrimSpace(string(object(one.raw)["respondents"]))
	switch single := len(one.records) == 1 && strings.EqualFold(one.records[0].id, respondent); {
	case single && strings.HasPrefix(value, "["):
		r.say("one respondent", Holds, "an array of one")
	case single && strings.HasPrefix(value, "{"):
		r.say("one respondent", Differs, "an object")
		r.report.Profile.RespondentObject = true
	default:
		r.say("one respondent", CannotTell, "%s, %d respondents", one.short(), len(one.records))
	}
}

// template returns a template of the account, with a document that was made from it, and the answer to a request for those.
func (r *run) template(ctx context.Context) (template, respondent string, known answer) {
	known.err = errEnough
	templates := r.ask(ctx, question{do: func(ctx context.Context, c *signforms.Client) (page, error) {
		list, err := c.Templates.List(ctx, signforms.TemplateListParams{})
		return pageOf(list, err, "documents", ofDocument)
	}})
	var found []record
	for _, rec := range templates.records {
		if rec.doc.SigningType == signforms.TypePDFTemplate { // else documentType is ignored
			found = append(found, rec)
		}
	}
	if len(found) == 0 {
		return "", "", known
	}
	if none := lacking(found, templateFields); found[0].raw != nil {
		r.check("template fields", len(none) == 0, "%s", ifThen(len(none) == 0, "all are there", "missing: "+strings.Join(none, ", ")))
	}
	for _, rec := range found {
		if len(rec.doc.Respondents) > 0 {
			template, respondent = rec.id, rec.doc.Respondents[0].RespondentDocumentID
			break
		}
	}
	if template == "" {
		template = found[0].id
	}
	known = r.askRespondents(ctx, signforms.RespondentListParams{TemplateID: template})
	if respondent == "" && len(known.records) > 0 {
		respondent = known.records[0].id
	}
	return template, respondent, known
}

// noneOf checks the answer to an id that no record has. The operation is known to be there.
func (r *run) noneOf(fact string, a answer) {
	switch {
	case a.Status == http.StatusNotFound && a.missing():
		r.say(fact, Holds, "%s", a.short())
	case a.ok() && len(a.records) == 0:
		r.say(fact, Differs, "an empty list")
		r.report.Profile.UnknownIDEmpty = true
	case a.refused():
		r.say(fact, Differs, "%s", a.short())
	default:
		r.say(fact, CannotTell, "%s", a.short())
	}
}

// responses asks for the responses to unknown forms. The service has no list of forms.
func (r *run) responses(ctx context.Context) {
	id := randomID()
	unknown := r.askResponses(ctx, id)
	bare := func() answer { return r.askResponses(ctx, id, "formId", "") }
	if !r.presence(ctx, "list responses", "responses", unknown, bare) {
		return
	}
	r.noneOf("unknown form", unknown)
	switch odd := r.askResponses(ctx, "not-an-id"); {
	case odd.Status == unknown.Status && odd.none() == unknown.none() && unknown.none():
		r.say("any form id", Holds, "%s, as for an unknown UUID", odd.short())
	case odd.refused() && !odd.missing():
		r.say("any form id", Differs, "%s", odd.short())
	default:
		r.say("any form id", CannotTell, "%s", odd.short())
	}
	r.redirects()
}

func (r *run) redirects() {
	if r.holds("list documents") && r.holds("list respondents") && r.holds("list responses") {
		r.say("redirects", Holds, "the lists answer at their paths")
	}
}

// wrongKey asks with an unknown key of the same form. A service may lock out a client that does so: it comes last, right after a
// request with the right key.
func (r *run) wrongKey(ctx context.Context) {
	right := r.documents(ctx, params{Limit: 1})
	if right.Status == 0 || !r.first.ok() || !right.ok() {
		r.say("key status", CannotTell, "the right key was not taken just before")
		return
	}
	a := r.ask(ctx, question{key: stranger(r.APIKey), do: func(ctx context.Context, c *signforms.Client) (page, error) {
		list, err := c.Documents.List(ctx, params{Limit: 1})
		return pageOf(list, err, "documents", ofDocument)
	}})
	switch r.keyError = a; {
	case a.ok() && len(a.records) > 0:
		r.say("key status", Differs, "a wrong key is taken (%d)", a.Status)
	case a.ok():
		r.say("key status", Differs, "%s with an empty list", a.short())
	case a.Status/100 == 2 && !strings.Contains(a.short(), "cannot read"):
		r.say("key status", Differs, "%s", a.short())
	case a.Status/100 != 4 || errIsLimit(a):
		r.say("key status", CannotTell, "%s", a.short())
	default:
		r.check("key status", a.Status == http.StatusForbidden, "%s", a.short())
		if a.Status != http.StatusForbidden {
			r.report.Profile.KeyStatus = a.Status
		}
	}
}

func errIsLimit(a answer) bool {
	return slices.Contains([]int{http.StatusTooManyRequests, http.StatusRequestTimeout}, a.Status)
}

// layout is where an error's message and code are.
type layout struct {
	name    string
	profile signformstest.ErrorLayout
	code    string
}

// layoutOf returns the layout of an error's body; its name is empty when there is nothing to see.
func layoutOf(a answer) layout {
	type fields struct{ Message, Error, Detail, Title, Code any }
	var f fields
	text := func(v any) bool { s, ok := v.(string); return ok && s != "" }
	switch parsed := unmarshal(a.Body, &f); {
	case len(strings.TrimSpace(string(a.Body))) == 0:
		return layout{}
	case object(a.Body) == nil:
		return layout{name: "not a JSON object", profile: signformstest.LayoutText}
	case !parsed:
		return layout{}
	case text(f.Message):
		code, _ := f.Code.(string)
		return layout{ifThen(f.Code != nil, "message and code", "message, without code"), signformstest.LayoutMessage, code}
	case text(f.Error):
		return layout{name: "error", profile: signformstest.LayoutError}
	case text(f.Title) || text(f.Detail):
		return layout{name: "title or detail, as in RFC 7807"}
	}
	var d struct{ Data fields }
	if !unmarshal(a.Body, &d) {
		return layout{}
	}
	code, _ := d.Data.Code.(string)
	switch {
	case text(d.Data.Message):
		return layout{"data.message", signformstest.LayoutDataMessage, code}
	case text(d.Data.Error):
		return layout{name: "data.error", profile: signformstest.LayoutDataError}
	}
	return layout{}
}

// errors compares the layouts of all refusals that the lists answered with, and the codes of two of them.
func (r *run) errors(context.Context) {
	var seen []layout
	for _, asked := range r.report.Asked {
		list := asked.Operation == signforms.OpListDocuments || r.holds(string(asked.Operation))
		if list && asked.Status/100 == 4 && asked.Status != http.StatusTooManyRequests {
			if l := layoutOf(answer{Asked: asked}); l.name != "" && !slices.ContainsFunc(seen, func(o layout) bool { return o.name == l.name }) {
				seen = append(seen, l)
			}
		}
	}
	switch {
	case len(seen) == 1:
		r.check("error layout", seen[0].name == "message and code", "%s", seen[0].name)
		r.report.Profile.ErrorLayout = seen[0].profile
	case len(seen) > 1:
		r.say("error layout", CannotTell, "the errors have several layouts, so some may not be the service's own")
	}
	key, bad := layoutOf(r.keyError).code, layoutOf(r.badID).code
	keyRefused, badRefused := r.keyError.Status/100 == 4, r.badID.invalid()
	switch {
	case keyRefused && key != "" && key != "forbidden", badRefused && bad != "" && bad != "invalid_input":
		r.say("error codes", Differs, "%s and %s", foreign(key), foreign(bad))
	case keyRefused && badRefused && key == "forbidden" && bad == "invalid_input":
		r.say("error codes", Holds, "%s and %s", key, bad)
	default:
		r.say("error codes", CannotTell, "not both of these errors have a code where it is looked for")
	}
}
