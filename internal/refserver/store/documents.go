package store

import (
	"slices"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// documents stores each document by id and by signing link, and in the lists from which requests
// read pages.
type documents struct {
	byID    map[string]*signing.Document
	byToken map[string]string // token of a signing link → document id
	lists   map[docList]*list[signing.Document]
	expiry  *list[signing.Document] // documents in progress that have an expiry time
}

// docList names a list. An empty status means any status, and archived any means archived or not.
// There is a list for each filter, so a filtered page costs as much as an unfiltered one.
type docList struct {
	owner    string // empty for PDF documents; the template id for documents from a template
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

// fromTemplates is the owner of the lists of all documents made from templates.
const fromTemplates = "from templates"

// listsOf returns the lists that contain d. Documents from a template are never filtered by
// archived state.
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

// filesOfDocument returns pointers to a document's files. It returns none for a nil document.
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

// replace replaces old with d; either may be nil. Both have the same id and CreatedAt, so a list
// that contains both only replaces the pointer.
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
	Status   signing.Status // only for documents
	Archived *bool
	From, To time.Time // limits of CreatedAt, both inclusive
	Text     string    // part of the name, in any letter case
	Page
}

// Documents finds PDF documents by a query. As in all lists, a record to which a pointer refers is
// never changed. A changed record gets a new pointer, so a pointer identifies a version of the
// record.
func (tx *Tx) Documents(q Query) Found[signing.Document] {
	return find(tx.s.documents.lists[docList{status: q.Status, archived: tristateOf(q.Archived)}], q)
}

// FromTemplates finds documents made from any template. It ignores Query.Archived.
func (tx *Tx) FromTemplates(q Query) Found[signing.Document] {
	return find(tx.s.documents.lists[docList{owner: fromTemplates, status: q.Status}], q)
}

// Respondents returns a page of the documents made from the template, and the number of all such
// documents.
func (tx *Tx) Respondents(templateID string, p Page) ([]*signing.Document, int) {
	return find(tx.s.documents.lists[docList{owner: templateID}], Query{Page: p})()
}

// CountRespondents returns how many documents with the status s were made from the template. An
// empty s means any status.
func (tx *Tx) CountRespondents(templateID string, s signing.Status) int {
	if l := tx.s.documents.lists[docList{owner: templateID, status: s}]; l != nil {
		return l.n
	}
	return 0
}

// expiresBy returns the document in progress with the earliest expiry, if that is not after now.
func (ds *documents) expiresBy(now time.Time) *signing.Document {
	if d := ds.expiry.first(); d != nil && !d.ExpiresAt.After(now) {
		return d
	}
	return nil
}

// expireDue expires every document in progress that has expired, each at its own time, in order.
func (tx *Tx) expireDue() {
	for d := tx.s.documents.expiresBy(tx.Now); d != nil; d = tx.s.documents.expiresBy(tx.Now) {
		c, err := d.Expire(d.ExpiresAt)
		if err != nil {
			panic(err) // cannot happen: every document in progress can expire
		}
		tx.Apply(c)
	}
}

// Audit returns the audit trail of a document or form.
func (tx *Tx) Audit(recordID string) Records[signing.AuditEntry] { return tx.s.audit.of(recordID) }

// Messages returns all messages.
func (tx *Tx) Messages() Records[signing.Message] { return tx.s.messages.entries() }

// Matches reports whether the filters select a record with these properties, whatever its position
// in the list.
func (q Query) Matches(name string, status signing.Status, archived bool, createdAt time.Time) bool {
	return (q.Status == "" || q.Status == status) &&
		(q.Archived == nil || *q.Archived == archived) &&
		(q.From.IsZero() || !createdAt.Before(q.From)) &&
		(q.To.IsZero() || !createdAt.After(q.To)) &&
		contains(name, folded(q.Text))
}
