package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/webhook"
)

const maxPDF = 100 << 20 // bytes

// send sends what is new. The row says so before the request is made. Of two offers to one address, the second waits while the
// outcome of the first is in doubt.
func (a *app) send(ctx context.Context) error {
	const begin = `UPDATE offers SET state = 'sending', tried = $2
		WHERE ref = $1 AND state = 'new' AND NOT EXISTS (SELECT 1 FROM offers AS other
			WHERE other.template = offers.template AND other.email = offers.email AND other.state = 'sending')`
	offers, err := a.find(ctx, "state = 'new'")
	for _, o := range offers {
		now := a.now().UnixMilli()
		begun, err := a.change(ctx, begin, o.Ref, now)
		if begun {
			o.State, o.Tried = sending, now
			err = a.request(ctx, o)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// request sends an offer and records the outcome, unless that is unknown.
func (a *app) request(ctx context.Context, o offer) error {
	ctx, cancel := context.WithTimeout(ctx, a.doubt/2) // so that the request has ended long before its outcome is looked for
	defer cancel()
	result, err := a.client.Templates.Send(ctx, o.params())
	switch {
	case err == nil:
		return a.to(ctx, open, o, ", document = $5, sent = $6", result.CreatedDocumentID, a.now().UnixMilli())
	case errors.Is(err, signforms.ErrOutcomeUnknown):
		slog.Warn("sending, outcome unknown", "offer", o.Ref, "error", err)
		return nil
	case errors.Is(err, signforms.ErrInvalid), errors.Is(err, signforms.ErrNotFound), errors.Is(err, signforms.ErrRefused):
		return a.to(ctx, toDecide, o, ", note = $5", err.Error())
	}
	return errors.Join(err, a.to(ctx, toSend, o, "")) // nothing was sent, and the next offer would fare no better
}

func (o offer) params() signforms.TemplateSendParams {
	to := signforms.Receiver{Name: o.Name, Email: o.Email, RoleTitle: o.Role}
	return signforms.TemplateSendParams{TemplateID: o.Template, Receivers: []signforms.Receiver{to}}
}

// own records the document of an offer, which is then looked into.
func (a *app) own(ctx context.Context, o offer, document string) error {
	return a.to(ctx, open, o, ", note = '', document = $5, sent = $6, hints = hints + 1", document, a.now().UnixMilli())
}

// longInDoubt reports whether this process has seen an offer's doubt for long enough. It compares no times of the database, because the
// clock of the machine that wrote them may have been set, or differ. time.Now also counts by a clock that nobody can set.
func (a *app) longInDoubt(o offer) bool {
	seen, _ := a.doubts.LoadOrStore(fmt.Sprint(o.Tried, o.Ref), a.now())
	return a.now().Sub(seen.(time.Time)) >= a.doubt
}

// reconcile lists the documents of the selected offers' templates. It finds what no event reported, and resolves doubts: only by a list
// that is whole, and if the request had ended long before the list was read.
func (a *app) reconcile(ctx context.Context, where string) error {
	offers, err := a.find(ctx, where)
	byTemplate := map[string][]offer{}
	for _, o := range offers {
		if o.State != sending || a.longInDoubt(o) {
			byTemplate[o.Template] = append(byTemplate[o.Template], o)
		}
	}
	for template, offers := range byTemplate {
		whole := true
		documents := map[string]*signforms.Respondent{}
		for r, listErr := range a.client.Templates.AllRespondents(ctx, signforms.RespondentListParams{TemplateID: template}) {
			if listErr != nil {
				err, whole = errors.Join(err, listErr), false
				break
			}
			documents[r.RespondentDocumentID] = r
		}
		for _, o := range offers {
			if r := documents[o.Document]; r != nil && r.Status != signforms.StatusPending {
				err = errors.Join(err, a.to(ctx, o.State, o, ", hints = hints + 1"))
			} else if o.State == sending && whole {
				err = errors.Join(err, a.resolve(ctx, o, documents))
			}
		}
	}
	return err
}

// resolve finds out what became of a send: it looks for documents that may be it and that no other offer owns.
func (a *app) resolve(ctx context.Context, o offer, documents map[string]*signforms.Respondent) error {
	var candidates []string
	for id, r := range documents {
		if !o.params().MayBe(r) {
			continue
		}
		owners, err := a.find(ctx, "document = $1", id)
		if err != nil {
			return err
		}
		if len(owners) == 0 {
			candidates = append(candidates, id)
		}
	}
	switch len(candidates) {
	case 0:
		return a.to(ctx, toSend, o, "")
	case 1:
		return a.own(ctx, o, candidates[0])
	}
	return a.to(ctx, toDecide, o, ", note = $5", "which document is it: "+strings.Join(candidates, " or "))
}

var errNotListed = errors.New("the link to the PDF, or what it redirects to, does not begin with one of OFFERS_PDF_HOSTS")

// listed refuses a request to another host than those that PDFs may come from, and redirects without end.
func (a *app) listed(r *http.Request, before []*http.Request) error {
	if len(before) > 5 || !slices.ContainsFunc(a.hosts, func(host string) bool { return strings.HasPrefix(r.URL.String(), strings.TrimRight(host, "/")+"/") }) {
		return errNotListed
	}
	return nil
}

// download gets a PDF from one of the hosts, whole: one that was cut off has no mark at its end. Its errors do not quote the link,
// because anyone with the link can read the document.
func (a *app) download(ctx context.Context, link string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil || a.listed(r, nil) != nil {
		return nil, errNotListed
	}
	pdfs := http.Client{CheckRedirect: a.listed} // has no API key
	answer, err := pdfs.Do(r)
	if err != nil {
		return nil, errors.Unwrap(err) // without the link
	}
	defer answer.Body.Close()
	pdf, err := io.ReadAll(io.LimitReader(answer.Body, maxPDF+1))
	whole := bytes.HasPrefix(pdf, []byte("%PDF-")) && bytes.Contains(pdf[max(0, len(pdf)-1024):], []byte("%%EOF"))
	if err == nil && (answer.StatusCode != http.StatusOK || len(pdf) > maxPDF || !whole) {
		err = fmt.Errorf("the download was answered %d, with %d bytes that are not a whole PDF", answer.StatusCode, len(pdf))
	}
	return pdf, err
}

// hint notes that an event came for an address. What the event says is not used: it may be old, or have overtaken another one. It may
// also have come before the document of its offer is known; then the hint waits for that.
func (a *app) hint(ctx context.Context, signers []webhook.Signer) error {
	for _, s := range signers {
		_, err := a.change(ctx, "UPDATE offers SET hints = hints + 1 WHERE email = $1 AND state IN ('sending', 'open')", strings.ToLower(s.Email))
		if err != nil {
			return err
		}
	}
	return nil
}

// look reads the documents for which there are hints, and records how far they are. The PDF of a signed one is kept in the statement
// that says so.
func (a *app) look(ctx context.Context) error {
	hinted, err := a.find(ctx, "hints > 0 AND state = 'open'")
	for _, o := range hinted {
		r, lookErr := a.client.Templates.Respondent(ctx, o.Document)
		if lookErr == nil {
			switch r.Status {
			case signforms.StatusSigned, signforms.StatusPaid:
				var pdf []byte
				if pdf, lookErr = a.download(ctx, r.FinishedPDFURL); lookErr == nil {
					lookErr = a.to(ctx, archived, o, ", pdf = $5", pdf)
				}
			case signforms.StatusDeclined, signforms.StatusVoid, signforms.StatusExpired, signforms.StatusDeleted:
				lookErr = a.to(ctx, closed, o, ", note = $5", string(r.Status))
			}
		}
		if lookErr == nil {
			lookErr = a.to(ctx, open, o, ", hints = hints - $5", o.Hints) // those that came meanwhile stay
		}
		if lookErr != nil {
			err = errors.Join(err, fmt.Errorf("looking into %s: %w", o.Ref, lookErr))
		}
	}
	return err
}

// remind reminds who is late. The row says so before the request is made, so that nobody is reminded twice. The rows also keep the
// limit over restarts: 5 requests in the 15 minutes of the service and two more, in which a late request may arrive.
func (a *app) remind(ctx context.Context) error {
	const mark = `UPDATE offers SET reminded = $3 WHERE ref = $1 AND state = 'open' AND reminded = $2
		AND (SELECT count(*) FROM offers WHERE reminded > $4) < 5`
	now := a.now()
	late, err := a.find(ctx, "state = 'open' AND sent <= $1 AND reminded <= $2", now.Add(-a.overdue).UnixMilli(), now.Add(-a.again).UnixMilli())
	for _, o := range late {
		marked, err := a.change(ctx, mark, o.Ref, o.Reminded, now.UnixMilli(), now.Add(-17*time.Minute).UnixMilli())
		if err != nil || !marked {
			return err
		}
		_, err = a.client.Documents.Remind(ctx, signforms.TemplateDocument(o.Template, o.Document))
		switch {
		case err == nil, errors.Is(err, signforms.ErrRefused), errors.Is(err, signforms.ErrNotFound): // signed or gone: reconciliation finds it
		case errors.Is(err, signforms.ErrOutcomeUnknown):
			slog.Warn("reminding, outcome unknown: counts as a reminder", "offer", o.Ref, "error", err)
		default: // nothing was sent, and the next would fare no better
			return errors.Join(fmt.Errorf("reminding %s: %w", o.Ref, err), a.to(ctx, open, o, ", reminded = $5", o.Reminded))
		}
	}
	return err
}
