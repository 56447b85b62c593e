package store

import (
	"slices"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// Workspace owns documents, templates, forms, webhooks and API keys.
type Workspace struct {
	ID      string
	OwnerID string
}

// PutWorkspace adds or replaces a workspace.
func (tx *Tx) PutWorkspace(w Workspace) { set(tx, tx.s.workspaces, w.ID, &w) }

// Workspace returns the workspace with the id, or a [*Missing].
func (tx *Tx) Workspace(id string) (Workspace, error) {
	return lookup(tx.s.workspaces, "workspace", id)
}

// PutKey lets an API key act for a workspace.
func (tx *Tx) PutKey(apiKey, workspaceID string) {
	old, had := tx.s.keys[apiKey]
	tx.change(func() { tx.s.keys[apiKey] = workspaceID }, func() {
		if had {
			tx.s.keys[apiKey] = old
		} else {
			delete(tx.s.keys, apiKey)
		}
	})
}

// WorkspaceOf returns the id of the workspace that the API key acts for.
func (tx *Tx) WorkspaceOf(apiKey string) (string, bool) {
	id, ok := tx.s.keys[apiKey]
	return id, ok
}

// templates keeps each template by id and in the lists that requests page through.
type templates struct {
	byID  map[string]*signing.Template
	lists map[docList]*list[signing.Template]
}

func newTemplates() templates {
	return templates{byID: map[string]*signing.Template{}, lists: map[docList]*list[signing.Template]{}}
}

func templateKey(t *signing.Template) key { return keyOf(t.CreatedAt, t.ID) }

// PutTemplate adds or replaces a template.
func (tx *Tx) PutTemplate(t signing.Template) {
	ts := &tx.s.templates
	t.Roles, t.Variables = slices.Clone(t.Roles), slices.Clone(t.Variables)
	old, next := ts.byID[t.ID], &t
	tx.change(func() { ts.replace(old, next) }, func() { ts.replace(next, old) })
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
			l = &list[signing.Template]{key: templateKey}
			ts.lists[name] = l
		}
		l.put(t)
	}
}

func templateLists(t *signing.Template) []docList {
	return []docList{{owner: t.WorkspaceID}, {owner: t.WorkspaceID, archived: tristateOf(&t.Archived)}}
}

// Template returns the template with the id, or a [*Missing].
func (tx *Tx) Template(id string) (signing.Template, error) {
	return lookup(tx.s.templates.byID, "template", id)
}

// Templates returns a page of the templates that match, and how many match in all.
func (tx *Tx) Templates(q Query) ([]*signing.Template, int) {
	l := tx.s.templates.lists[docList{owner: q.WorkspaceID, archived: tristateOf(q.Archived)}]
	return search(l, q, func(t *signing.Template) string { return t.Name })
}

// forms keeps forms and their responses.
type forms struct {
	byID        map[string]*signing.Form
	inWorkspace map[string]int
	responses   map[string]*signing.FormResponse // under both of its ids
	byForm      map[string]*list[signing.FormResponse]
}

func newForms() forms {
	return forms{
		byID:        map[string]*signing.Form{},
		inWorkspace: map[string]int{},
		responses:   map[string]*signing.FormResponse{},
		byForm:      map[string]*list[signing.FormResponse]{},
	}
}

// PutForm adds or replaces a form.
func (tx *Tx) PutForm(f signing.Form) {
	f.Fields = slices.Clone(f.Fields)
	if _, exists := tx.s.forms.byID[f.ID]; !exists {
		tx.change(func() { tx.s.forms.inWorkspace[f.WorkspaceID]++ }, func() { tx.s.forms.inWorkspace[f.WorkspaceID]-- })
	}
	set(tx, tx.s.forms.byID, f.ID, &f)
}

// Form returns the form with the id, or a [*Missing].
func (tx *Tx) Form(id string) (signing.Form, error) { return lookup(tx.s.forms.byID, "form", id) }

// Forms returns the forms of a workspace, newest first.
func (tx *Tx) Forms(workspaceID string) []signing.Form {
	var all []signing.Form
	for _, f := range tx.s.forms.byID {
		if f.WorkspaceID == workspaceID {
			all = append(all, *f)
		}
	}
	slices.SortFunc(all, func(a, b signing.Form) int { return keyOf(b.CreatedAt, b.ID).compare(keyOf(a.CreatedAt, a.ID)) })
	return all
}

// CountForms returns how many forms the workspace has.
func (tx *Tx) CountForms(workspaceID string) int { return tx.s.forms.inWorkspace[workspaceID] }

func (tx *Tx) putResponse(r *signing.FormResponse) {
	fs := &tx.s.forms
	l := fs.byForm[r.FormID]
	if l == nil {
		l = &list[signing.FormResponse]{key: func(r *signing.FormResponse) key { return keyOf(r.SubmittedAt, r.ID) }}
		fs.byForm[r.FormID] = l
	}
	tx.change(func() { l.put(r) }, func() { l.remove(l.key(r)) })
	set(tx, fs.responses, r.ID, r)
	set(tx, fs.responses, r.ObjectID, r)
}

// Response returns the form response with the id, in either of its forms, or a [*Missing].
func (tx *Tx) Response(id string) (signing.FormResponse, error) {
	return lookup(tx.s.forms.responses, "response", id)
}

// Responses returns a page of a form's responses, and how many there are in all.
func (tx *Tx) Responses(formID string, p Page) ([]*signing.FormResponse, int) {
	return search(tx.s.forms.byForm[formID], Query{Page: p}, nil)
}
