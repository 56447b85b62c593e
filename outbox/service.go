package outbox

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
)

// This file has what a box needs of the client.

// document is a document of a template as the service lists it.
type document struct {
	id       string
	template string
	status   signforms.DocumentStatus
	created  time.Time
	signers  []string
	record   *signforms.Respondent
}

func documentOf(r *signforms.Respondent) document {
	return document{id: normalID(r.ID), template: normalID(r.TemplateID), status: r.Status, created: r.CreatedAt,
		signers: r.SignerIDs(), record: r}
}

// shows reports whether each address is one of the document's signers.
func (d document) shows(addresses []string) bool {
	for _, a := range addresses {
		if !slices.ContainsFunc(d.record.Signers, func(s signforms.Signer) bool { return normalAddress(s.Email) == a }) {
			return false
		}
	}
	return true
}

func (d document) mayBe(p signforms.TemplateSendParams) bool { return p.MayMatch(d.record) }

// send returns the document that was made.
func (b *Box) send(ctx context.Context, p signforms.TemplateSendParams) (document, error) {
	sent, err := b.client.Templates.Send(ctx, p)
	if err != nil {
		return document{}, err
	}
	return document{id: normalID(sent.DocumentID), status: sent.Status, signers: sent.SignerIDs()}, nil
}

func (b *Box) list(ctx context.Context, template string) iter.Seq2[*signforms.Respondent, error] {
	return b.client.Respondents.All(ctx, signforms.RespondentListParams{TemplateID: template})
}

func (b *Box) get(ctx context.Context, documentID string) (document, error) {
	r, err := b.client.Respondents.Get(ctx, documentID)
	if err != nil {
		return document{}, err
	}
	return documentOf(r), nil
}

// probe reads one page of a template's documents. It returns the service's time, zero if the response has none.
func (b *Box) probe(ctx context.Context, template string) (time.Time, error) {
	page, err := b.client.Respondents.List(ctx, signforms.RespondentListParams{TemplateID: template, Limit: 1})
	if err != nil {
		return time.Time{}, err
	}
	return page.Time, nil
}

// ended reports whether a status is final, but for SIGNED, which may become PAID.
func ended(s signforms.DocumentStatus) bool {
	switch s {
	case signforms.StatusSigned, signforms.StatusPaid, signforms.StatusDeclined, signforms.StatusVoid, signforms.StatusExpired, signforms.StatusDeleted:
		return true
	}
	return false
}
