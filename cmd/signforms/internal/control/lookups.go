package control

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/signformstest"
)

// TemplateRecord is the current state of a template.
type TemplateRecord struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Roles        []Role     `json:"roles"`
	SigningOrder bool       `json:"signingOrder,omitempty"`
	Fields       []PDFField `json:"fields,omitempty"`
	Variables    []string   `json:"variables,omitempty"`
	AuthorEmail  string     `json:"authorEmail"`
	ExpiresFor   Duration   `json:"expiresFor,omitempty"`
	Archived     bool       `json:"archived,omitempty"`
	HasPDF       bool       `json:"hasPdf,omitempty"`
	CreatedAt    time.Time  `json:"createdAt"`
	Documents    int        `json:"documents"` // made from it
}

func templateRecord(t signformstest.TemplateState) TemplateRecord {
	out := TemplateRecord{
		ID: t.ID, Name: t.Name, Roles: []Role{}, SigningOrder: t.SigningOrder, Fields: ownFields(t.Fields), Variables: t.Variables,
		AuthorEmail: t.AuthorEmail, ExpiresFor: Duration(t.ExpiresFor), Archived: t.Archived, HasPDF: t.HasPDF,
		CreatedAt: t.CreatedAt, Documents: t.Documents,
	}
	for _, r := range t.Roles {
		out.Roles = append(out.Roles, Role(r))
	}
	return out
}

func ownFields(fields []signformstest.TemplateField) (out []PDFField) {
	for _, f := range fields {
		out = append(out, PDFField{
			Name: f.Name, Role: f.Role, Kind: string(f.Kind), Required: f.Required, Page: f.Page, X: f.X, Y: f.Y, Width: f.Width, Height: f.Height,
		})
	}
	return out
}

func (a *API) listTemplates(r *http.Request) (any, error) {
	q := readQuery(r)
	name := q.text("name")
	return page(q, a.server.Templates(), func(t signformstest.TemplateState) bool { return contains(t.Name, name) }, templateRecord)
}

// contains reports whether a name contains a text, without regard to case.
func contains(name, text string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(text))
}

func (a *API) getTemplate(r *http.Request) (any, error) {
	return one(r, "template", a.server.FindTemplate, templateRecord)
}

// FormRecord is the current state of a form.
type FormRecord struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Fields    []Field   `json:"fields"`
	CreatedAt time.Time `json:"createdAt"`
	Responses int       `json:"responses"`
}

func formRecord(f signformstest.FormState) FormRecord {
	out := FormRecord{ID: f.ID, Title: f.Title, Fields: []Field{}, CreatedAt: f.CreatedAt, Responses: f.Responses}
	for _, field := range f.Fields {
		out.Fields = append(out.Fields, Field{Question: field.Question, Kind: string(field.Kind), Required: field.Required, Choices: field.Choices})
	}
	return out
}

func (a *API) listForms(r *http.Request) (any, error) {
	q := readQuery(r)
	name := q.text("name")
	return page(q, a.server.Forms(), func(f signformstest.FormState) bool { return contains(f.Title, name) }, formRecord)
}

func (a *API) getForm(r *http.Request) (any, error) {
	return one(r, "form", a.server.FindForm, formRecord)
}

// ResponseRecord is a response to a form.
type ResponseRecord struct {
	ID              string    `json:"formResponseId"`
	ObjectID        string    `json:"responseId"`
	RespondentEmail string    `json:"respondentEmail,omitempty"`
	Answers         []Answer  `json:"answers"`
	SubmittedAt     time.Time `json:"submittedAt"`
}

// Answer is the answer to one question.
type Answer struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

func responseRecord(r signformstest.ResponseState) ResponseRecord {
	out := ResponseRecord{ID: r.ID, ObjectID: r.ObjectID, RespondentEmail: r.RespondentEmail, Answers: []Answer{}, SubmittedAt: r.SubmittedAt}
	for _, answer := range r.Answers {
		out.Answers = append(out.Answers, Answer(answer))
	}
	return out
}

func (a *API) listResponses(r *http.Request) (any, error) {
	form := r.PathValue("id")
	if _, found := a.server.FindForm(form); !found {
		return nil, notFound("form", form)
	}
	return page(readQuery(r), a.server.Responses(form), func(signformstest.ResponseState) bool { return true }, responseRecord)
}

func (a *API) getResponse(r *http.Request) (any, error) {
	return one(r, "response", a.server.FindResponse, responseRecord)
}

// WebhookRecord is the current state of a webhook.
type WebhookRecord struct {
	ID        string    `json:"id"`
	URL       string    `json:"url"`
	Event     string    `json:"event"`
	Documents []string  `json:"documents,omitempty"`
	Object    bool      `json:"object,omitempty"`
	Disabled  bool      `json:"disabled"`
	Secret    string    `json:"secret"`
	CreatedAt time.Time `json:"createdAt"`
}

func webhookRecord(w signformstest.WebhookState) WebhookRecord {
	return WebhookRecord{
		ID: w.ID, URL: w.URL, Event: string(w.Event), Documents: w.Documents, Object: w.Object, Disabled: w.Disabled, Secret: w.Secret, CreatedAt: w.CreatedAt,
	}
}

func (a *API) listWebhooks(r *http.Request) (any, error) {
	return page(readQuery(r), newest(a.server.Webhooks()), func(signformstest.WebhookState) bool { return true }, webhookRecord)
}

func (a *API) getWebhook(r *http.Request) (any, error) {
	return one(r, "webhook", inList(a.server.Webhooks(), func(w signformstest.WebhookState) string { return w.ID }), webhookRecord)
}

// inList returns a function that finds a record by its id in a short list.
func inList[T any](all []T, id func(T) string) func(string) (T, bool) {
	return func(wanted string) (found T, ok bool) {
		i := slices.IndexFunc(all, func(v T) bool { return id(v) == wanted })
		if i < 0 {
			return found, false
		}
		return all[i], true
	}
}

// one answers with the record that the path names.
func one[In, Out any](r *http.Request, what string, find func(id string) (In, bool), convert func(In) Out) (any, error) {
	if err := readQuery(r).check(); err != nil {
		return nil, err
	}
	found, ok := find(r.PathValue("id"))
	if !ok {
		return nil, notFound(what, r.PathValue("id"))
	}
	return convert(found), nil
}
