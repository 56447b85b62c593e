package store

import (
	"slices"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// documents keeps each document by id, by signing link, and in the lists that requests page through.
type documents struct {
	byID    map[string]*signing.Document
	byToken map[string]string // token of a signing link → document id
	lists   map[docList]*list[signing.Document]
	expiry  *list[signing.Document] // in progress with a time to expire
}

// docList names a list. The zero status means any, and archived any means both. A list for each filter makes a filtered
// page cost what an unfiltered one costs.
type docList struct {
	owner    string // empty for PDF documents, template id for documents from a template
	status   signing.Status
	archived tristate
}

type tristate int8

const (
	either tristate = iota
	no
	yes
)

func tristateOf(b *bool) tristate {
	switch {
	case b == nil:
		return either
	case *b:
		return yes
	}
	return no
}

func newDocuments() documents {
	return documents{
		byID:    map[string]*signing.Document{},
		byToken: map[string]string{},
		lists:   map[docList]*list[signing.Document]{},
		expiry:  &list[signing.Document]{key: func(d *signing.Document) key { return keyOf(d.ExpiresAt, d.ID) }},
	}
}

func newestKey(d *signing.Document) key { return keyOf(d.CreatedAt, d.ID) }

// fromTemplates owns the lists of all documents that were made from templates.
const fromTemplates = "from templates"

// listsOf names the lists that hold d. Documents from a template are never filtered by archive.
func listsOf(d *signing.Document) []docList {
	if d.Kind == signing.KindTemplate {
		return []docList{
			{owner: d.TemplateID}, {owner: d.TemplateID, status: d.Status}, {owner: fromTemplates}, {owner: fromTemplates, status: d.Status},
		}
	}
	archived := tristateOf(&d.Archived)
	return []docList{
		{},
		{status: d.Status},
		{archived: archived},
		{status: d.Status, archived: archived},
	}
}

func (tx *Tx) putDocument(d *signing.Document) {
	ds := &tx.s.documents
	old := ds.byID[d.ID]
	tx.putFiles(filesOfDocument(old), filesOfDocument(d))
	tx.change(func() { ds.replace(old, d) }, func() { ds.replace(d, old) })
	tx.wrote(KindDocument, d.ID, d)
}

// filesOfDocument returns the places of a document's files; none for nil.
func filesOfDocument(d *signing.Document) []*signing.File {
	if d == nil {
		return nil
	}
	files := []*signing.File{&d.PDF, &d.Finished}
	for i := range d.Values {
		files = append(files, &d.Values[i].Image)
	}
	return files
}

// replace replaces old by d; either may be nil. They have the same id and CreatedAt, so a list that holds both only
// swaps the pointer.
func (ds *documents) replace(old, d *signing.Document) {
	var from, to []docList
	if old != nil {
		from = listsOf(old)
		ds.expiry.remove(ds.expiry.key(old))
	}
	if d != nil {
		to = listsOf(d)
		ds.link(d)
	} else {
		ds.unlink(old)
	}
	for _, name := range from {
		if !slices.Contains(to, name) {
			ds.lists[name].remove(newestKey(old))
		}
	}
	for _, name := range to {
		l := ds.lists[name]
		if l == nil {
			l = &list[signing.Document]{key: newestKey, name: func(d *signing.Document) string { return d.Name }}
			ds.lists[name] = l
		}
		l.put(d)
	}
}

func (ds *documents) link(d *signing.Document) {
	ds.byID[d.ID] = d
	for i := range d.Signers {
		ds.byToken[d.Signers[i].Token] = d.ID
	}
	if d.Status == signing.StatusPending && !d.ExpiresAt.IsZero() {
		ds.expiry.put(d)
	}
}

func (ds *documents) unlink(d *signing.Document) {
	delete(ds.byID, d.ID)
	for i := range d.Signers {
		delete(ds.byToken, d.Signers[i].Token)
	}
}

// Document returns the document with the id, of either kind, or a [*Missing].
func (tx *Tx) Document(id string) (signing.Document, error) {
	return lookup(tx, tx.s.documents.byID, "document", id)
}

// DocumentByToken returns the document that a signing link opens, and the index of its signer.
func (tx *Tx) DocumentByToken(token string) (d signing.Document, signer int, ok bool) {
	id, ok := tx.s.documents.byToken[token]
	if !ok {
		return d, 0, false
	}
	d = *tx.s.documents.byID[id]
	for i := range d.Signers {
		if d.Signers[i].Token == token {
			return d, i, true
		}
	}
	return d, 0, false
}

// Query selects documents, templates or forms. Zero fields select everything.
type Query struct {
	Status   signing.Status // documents only
	Archived *bool
	From, To time.Time // on CreatedAt, both inclusive
	Text     string    // part of the name, in any case
	Page
}

// Documents finds PDF documents. As in all lists, what is pointed to is never changed: a record that changes is
// replaced, so that a pointer tells a version of it.
func (tx *Tx) Documents(q Query) Found[signing.Document] {
	return find(tx.s.documents.lists[docList{status: q.Status, archived: tristateOf(q.Archived)}], q)
}

// FromTemplates finds documents made from any template. It does not look at Query.Archived.
func (tx *Tx) FromTemplates(q Query) Found[signing.Document] {
	return find(tx.s.documents.lists[docList{owner: fromTemplates, status: q.Status}], q)
}

// Respondents returns a page of the documents made from the template, and how many there are in all.
func (tx *Tx) Respondents(templateID string, p Page) ([]*signing.Document, int) {
	return find(tx.s.documents.lists[docList{owner: templateID}], Query{Page: p})()
}

// CountRespondents returns how many documents were made from the template, with the given status or, when it is empty,
// in all.
func (tx *Tx) CountRespondents(templateID string, s signing.Status) int {
	if l := tx.s.documents.lists[docList{owner: templateID, status: s}]; l != nil {
		return l.n
	}
	return 0
}

// expiresBy returns the document in progress that expired first, if one did by now.
func (ds *documents) expiresBy(now time.Time) *signing.Document {
	if d := ds.expiry.first(); d != nil && !d.ExpiresAt.After(now) {
		return d
	}
	return nil
}

// expireDue expires every document in progress whose time has come, each at its own time, in order.
func (tx *Tx) expireDue() {
	for d := tx.s.documents.expiresBy(tx.Now); d != nil; d = tx.s.documents.expiresBy(tx.Now) {
		c, err := d.Expire(d.ExpiresAt)
		if err != nil {
			panic(err) // every document in progress can expire
		}
		tx.Apply(c)
	}
}

// Audit returns the audit trail of a document or form.
func (tx *Tx) Audit(recordID string) Records[signing.AuditEntry] { return tx.s.audit.of(recordID) }

// Messages returns all mail.
func (tx *Tx) Messages() Records[signing.Message] { return tx.s.messages.entries() }

// Matches reports whether the filters select a record with these properties, wherever it is in the list.
func (q Query) Matches(name string, status signing.Status, archived bool, createdAt time.Time) bool {
	return (q.Status == "" || q.Status == status) &&
		(q.Archived == nil || *q.Archived == archived) &&
		(q.From.IsZero() || !createdAt.Before(q.From)) &&
		(q.To.IsZero() || !createdAt.After(q.To)) &&
		contains(name, folded(q.Text))
}
