package control

import (
	"net/http"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

func templateRecord(t refserver.TemplateState) wire.TemplateRecord {
	return wire.TemplateRecord{TemplateState: t, ExpiresFor: wire.Duration(t.ExpiresFor)}
}

func (a *API) listTemplates(r *http.Request) (any, error) {
	q := readQuery(r)
	name := q.text("name")
	return page(q, a.server.Templates(), func(t refserver.TemplateState) bool { return contains(t.Name, name) }, templateRecord)
}

// contains reports whether a name contains a text, without regard to case.
func contains(name, text string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(text))
}

func (a *API) getTemplate(r *http.Request) (any, error) {
	return one(r, "template", a.server.FindTemplate, templateRecord)
}

func (a *API) listForms(r *http.Request) (any, error) {
	q := readQuery(r)
	name := q.text("name")
	return page(q, a.server.Forms(), func(f refserver.FormState) bool { return contains(f.Title, name) }, same)
}

func (a *API) getForm(r *http.Request) (any, error) {
	return one(r, "form", a.server.FindForm, same)
}

func (a *API) listResponses(r *http.Request) (any, error) {
	form := r.PathValue("id")
	if _, found := a.server.FindForm(form); !found {
		return nil, notFound("form", form)
	}
	return page(readQuery(r), a.server.Responses(form), every, same)
}

func (a *API) getResponse(r *http.Request) (any, error) {
	return one(r, "response", a.server.FindResponse, same)
}

func (a *API) listWebhooks(r *http.Request) (any, error) {
	return page(readQuery(r), newest(a.server.Webhooks()), every, same)
}

func (a *API) getWebhook(r *http.Request) (any, error) {
	find := func(id string) (refserver.WebhookState, bool) {
		for _, w := range a.server.Webhooks() {
			if w.ID == id {
				return w, true
			}
		}
		return refserver.WebhookState{}, false
	}
	return one(r, "webhook", find, same)
}

// one returns the record that the path names.
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
