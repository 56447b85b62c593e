package store

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// Service is the state of the service itself.
type Service struct {
	WorkspaceID   string        `json:",omitzero"`
	OwnerID       string        `json:",omitzero"`
	APIKey        string        `json:",omitzero"`
	WebhookSecret string        `json:",omitzero"`
	Offset        time.Duration `json:",omitzero"` // sum of all advances of its clock
	Latest        time.Time     `json:",omitzero"` // the latest time that the clock may have returned at its last advance
	Deliveries    int64         `json:",omitzero"` // number of the newest delivery at the time when all were deleted; the fields below are the same for other records
	Audit         int64         `json:",omitzero"`
	Messages      int64         `json:",omitzero"`
	Webhooks      int64         `json:",omitzero"`
}

// Service returns the state of the service itself.
func (tx *Tx) Service() Service { return *tx.s.service }

// PutService replaces the state of the service itself.
func (tx *Tx) PutService(v Service) {
	old := tx.s.service
	tx.change(func() { tx.s.service = &v }, func() { tx.s.service = old })
	tx.wrote(KindService, "service", &v)
}

// Key is a valid API key.
type Key struct{ APIKey string }

// PutKey makes an API key valid.
func (tx *Tx) PutKey(apiKey string) {
	k := &Key{apiKey}
	set(tx, tx.s.keys, apiKey, k)
	tx.wrote(KindKey, keyID(apiKey), k)
}

// DeleteKey makes an API key invalid, if it is valid.
func (tx *Tx) DeleteKey(apiKey string) {
	if tx.KnowsKey(apiKey) {
		set(tx, tx.s.keys, apiKey, nil)
		tx.wrote(KindKey, keyID(apiKey), nil)
	}
}

// KnowsKey reports whether an API key is valid.
func (tx *Tx) KnowsKey(apiKey string) bool { return tx.s.keys[apiKey] != nil }

// keyID returns an id for an API key that does not reveal it.
func keyID(apiKey string) string {
	sum := sha256.Sum256([]byte(apiKey))
	return hex.EncodeToString(sum[:])
}

// Limit is the state of the reminder limit of an API key.
type Limit struct {
	APIKey string
	State  []byte
}

// PutLimit stores the state of the reminder limit of an API key.
func (tx *Tx) PutLimit(apiKey string, state []byte) {
	old := tx.s.limits[apiKey]
	tx.change(func() { tx.s.limits[apiKey] = state }, func() { tx.s.limits[apiKey] = old })
	tx.wrote(KindLimit, keyID(apiKey), &Limit{apiKey, state})
}

// Limits calls fn with the state of the reminder limit of each API key that has one.
func (tx *Tx) Limits(fn func(apiKey string, state []byte)) {
	for key, state := range tx.s.limits {
		fn(key, state)
	}
}

// templates stores each template by id, and in the lists from which requests read pages.
type templates struct {
	byID  map[string]*signing.Template
	lists map[tristate]*list[signing.Template] // lists by archived state
}

func newTemplates() templates {
	return templates{byID: map[string]*signing.Template{}, lists: map[tristate]*list[signing.Template]{}}
}

func templateKey(t *signing.Template) key { return keyOf(t.CreatedAt, t.ID) }

// PutTemplate adds or replaces a template.
func (tx *Tx) PutTemplate(t signing.Template) {
	ts := &tx.s.templates
	old, next := ts.byID[t.ID], &t
	tx.putFiles(filesOfTemplate(old), filesOfTemplate(next))
	tx.change(func() { ts.replace(old, next) }, func() { ts.replace(next, old) })
	tx.wrote(KindTemplate, t.ID, next)
}

// filesOfTemplate returns pointers to a template's files. It returns none for a nil template.
func filesOfTemplate(t *signing.Template) []*signing.File {
	if t == nil {
		return nil
	}
	return []*signing.File{&t.PDF}
}

func (ts *templates) replace(old, t *signing.Template) {
	if old != nil {
		delete(ts.byID, old.ID)
		for _, name := range templateLists(old) {
			ts.lists[name].remove(templateKey(old))
		}
	}
	if t == nil {
		return
	}
	ts.byID[t.ID] = t
	for _, name := range templateLists(t) {
		l := ts.lists[name]
		if l == nil {
			l = &list[signing.Template]{key: templateKey, name: func(t *signing.Template) string { return t.Name }}
			ts.lists[name] = l
		}
		l.put(t)
	}
}

func templateLists(t *signing.Template) []tristate {
	return []tristate{either, tristateOf(&t.Archived)}
}

// Template returns the template with the id, or a [*Missing].
func (tx *Tx) Template(id string) (signing.Template, error) {
	return lookup(tx, tx.s.templates.byID, "template", id)
}

// Templates finds templates by a query.
func (tx *Tx) Templates(q Query) Found[signing.Template] {
	return find(tx.s.templates.lists[tristateOf(q.Archived)], q)
}

// forms stores forms and their responses.
type forms struct {
	byID      map[string]*signing.Form
	all       *list[signing.Form]
	responses map[string]*signing.FormResponse // each response is under both of its ids
	byForm    map[string]*list[signing.FormResponse]
	links     map[string]*FormLink // token → form link
}

// FormLink is the form and the receiver of a form link, which its token identifies.
type FormLink struct {
	FormID string
	Email  string // address of the receiver
}

func newForms() forms {
	return forms{
		byID: map[string]*signing.Form{},
		all: &list[signing.Form]{
			key:  func(f *signing.Form) key { return keyOf(f.CreatedAt, f.ID) },
			name: func(f *signing.Form) string { return f.Title },
		},
		responses: map[string]*signing.FormResponse{},
		byForm:    map[string]*list[signing.FormResponse]{},
		links:     map[string]*FormLink{},
	}
}

// PutForm adds or replaces a form.
func (tx *Tx) PutForm(f signing.Form) {
	fs := &tx.s.forms
	old := fs.byID[f.ID]
	tx.change(func() { fs.replace(old, &f) }, func() { fs.replace(&f, old) })
	tx.wrote(KindForm, f.ID, &f)
}

func (fs *forms) replace(old, f *signing.Form) {
	if old != nil {
		delete(fs.byID, old.ID)
		fs.all.remove(fs.all.key(old))
	}
	if f != nil {
		fs.byID[f.ID] = f
		fs.all.put(f)
	}
}

// Forms finds forms by a query.
func (tx *Tx) Forms(q Query) Found[signing.Form] { return find(tx.s.forms.all, q) }

func (tx *Tx) putFormLink(token string, link FormLink) {
	set(tx, tx.s.forms.links, token, &link)
	tx.wrote(KindFormLink, token, &link)
}

// FormLink returns the form and the receiver that the token of a form link identifies.
func (tx *Tx) FormLink(token string) (FormLink, bool) {
	link, ok := tx.s.forms.links[token]
	if !ok {
		return FormLink{}, false
	}
	return *link, true
}

// Form returns the form with the id, or a [*Missing].
func (tx *Tx) Form(id string) (signing.Form, error) { return lookup(tx, tx.s.forms.byID, "form", id) }

// CountForms returns how many forms there are.
func (tx *Tx) CountForms() int { return tx.s.forms.all.n }

func (tx *Tx) putResponse(r *signing.FormResponse) {
	fs := &tx.s.forms
	tx.change(func() { fs.addResponse(r) }, func() { fs.removeResponse(r) })
	tx.wrote(KindResponse, r.ID, r)
}

func (fs *forms) addResponse(r *signing.FormResponse) {
	l := fs.byForm[r.FormID]
	if l == nil {
		l = &list[signing.FormResponse]{key: func(r *signing.FormResponse) key { return keyOf(r.SubmittedAt, r.ID) }}
		fs.byForm[r.FormID] = l
	}
	l.put(r)
	fs.responses[r.ID], fs.responses[r.ObjectID] = r, r
}

func (fs *forms) removeResponse(r *signing.FormResponse) {
	l := fs.byForm[r.FormID]
	l.remove(l.key(r))
	delete(fs.responses, r.ID)
	delete(fs.responses, r.ObjectID)
}

// Response returns the form response with the id, which is either of its two ids, or a [*Missing].
func (tx *Tx) Response(id string) (signing.FormResponse, error) {
	return lookup(tx, tx.s.forms.responses, "response", id)
}

// Responses returns a page of a form's responses, and the number of all its responses.
func (tx *Tx) Responses(formID string, p Page) ([]*signing.FormResponse, int) {
	return find(tx.s.forms.byForm[formID], Query{Page: p})()
}
