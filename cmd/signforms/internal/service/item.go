package service

import (
	"context"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// item is one recipient of a batch.
type item struct {
	key    string // in the journal
	who    string // hash of whom it is for, whatever is sent; empty where the key says it all
	label  string // shown to people and used by --resolve, such as "line 4" or the id of a document
	record batchRecord
	made   time.Time // when its document was made; zero where that is not known
	// do makes the call and fills in the record from the answer. It returns the SDK's error.
	do func(ctx context.Context, r *batchRecord) error

	prior *journal.Entry // what the journal holds about it, from earlier runs; nil for nothing
}

// changed reports whether other contents were sent.
func (it *item) changed() bool {
	return it.prior != nil && it.prior.Key != it.key && it.prior.State == journal.Done
}

// open reports whether it is unknown if it was sent.
func (it *item) open() bool { return it.prior != nil && it.prior.State.Open() }

// triedAt returns when it was last tried, by the journal; zero for never.
func (it *item) triedAt() time.Time {
	if it.prior == nil {
		return time.Time{}
	}
	return it.prior.At
}

func (it *item) entry(run string) journal.Entry {
	return journal.Entry{Key: it.key, Who: it.who, Run: run, Item: it.label}
}

// title returns the label with the addresses, for people.
func (it *item) title() string {
	if len(it.record.To) == 0 {
		return it.label
	}
	var to []string
	for _, r := range it.record.To {
		to = append(to, r.Email)
	}
	return it.label + " (" + cli.Plain(named(to)) + ")"
}

// batchRecord is what a batch prints for one item.
type batchRecord struct {
	Item              string                   `json:"item"`
	Outcome           string                   `json:"outcome"`
	To                []recipient              `json:"to,omitempty"`
	DocumentID        string                   `json:"documentId,omitempty"`
	TemplateID        string                   `json:"templateId,omitempty"`
	CreatedDocumentID string                   `json:"createdDocumentId,omitempty"`
	Status            signforms.DocumentStatus `json:"status,omitempty"`
	RemindersSent     *int                     `json:"remindersSent,omitempty"`
	Message           string                   `json:"message,omitempty"`
}

// recipient is who gets what a batch sends.
type recipient struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

func recipients(m mailing) []recipient {
	var all []recipient
	for _, r := range m.Receivers {
		all = append(all, recipient{r.Name, r.Email})
	}
	return all
}

// recipientsText has the addresses first, which a narrow table does not cut.
func recipientsText(all []recipient) string {
	var texts []string
	for _, r := range all {
		texts = append(texts, r.Email+" ("+r.Name+")")
	}
	return strings.Join(texts, ", ")
}

var batchColumns = []cli.Column[batchRecord]{
	{Name: "item", Value: func(r batchRecord) string { return r.Item }},
	{Name: "outcome", Value: func(r batchRecord) string { return r.Outcome }},
	{Name: "documentId", Value: func(r batchRecord) string { return r.DocumentID }, Wide: true},
	{Name: "templateId", Value: func(r batchRecord) string { return r.TemplateID }, Wide: true},
	{Name: "createdDocumentId", Value: func(r batchRecord) string { return r.CreatedDocumentID }, Wide: true},
	{Name: "status", Value: func(r batchRecord) string { return string(r.Status) }, Wide: true},
	{Name: "message", Value: func(r batchRecord) string { return r.Message }, Long: true},
}

var toColumn = cli.Column[batchRecord]{Name: "to", Value: func(r batchRecord) string { return recipientsText(r.To) }, Long: true}

// sentColumns are the columns of a batch that makes documents.
var sentColumns = []cli.Column[batchRecord]{batchColumns[0], batchColumns[1], toColumn,
	{Name: "createdDocumentId", Value: batchColumns[4].Value}, batchColumns[6]}

// formSentColumns are the columns of a batch that sends forms, which make no documents.
var formSentColumns = []cli.Column[batchRecord]{batchColumns[0], batchColumns[1], toColumn, batchColumns[6]}

// refs returns references to the documents with these ids: PDF documents or, with a template, documents made from it.
func refs(templateID string, ids []string) []signforms.DocumentRef {
	var all []signforms.DocumentRef
	for _, id := range ids {
		if templateID == "" {
			all = append(all, signforms.PDFDocument(id))
		} else {
			all = append(all, signforms.TemplateDocument(templateID, id))
		}
	}
	return all
}

// refRecord returns what is known about a document before any request.
func refRecord(templateID, id string) batchRecord {
	if templateID == "" {
		return batchRecord{DocumentID: id}
	}
	return batchRecord{TemplateID: templateID, CreatedDocumentID: id}
}
