package control

import (
	"context"
	"net/http"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// texts converts constants to strings.
func texts[T ~string](constants ...T) (all []string) {
	for _, c := range constants {
		all = append(all, string(c))
	}
	return all
}

// listDocuments lists PDF documents or, with type=PDF_TEMPLATE, documents made from templates.
func (a *API) listDocuments(r *http.Request) (any, error) {
	q := readQuery(r)
	f := refserver.DocumentFilter{Query: q.text("name"), Status: refserver.Status(q.oneOf("status", texts(refserver.Statuses()...)...))}
	f.FromTemplates = q.oneOf("type", string(refserver.KindPDF), string(refserver.KindTemplate)) == string(refserver.KindTemplate)
	return found(q, nil, func(_ func(refserver.DocumentState) bool, offset, limit int) ([]refserver.DocumentState, int) {
		f.Offset, f.Limit = offset, limit
		return a.server.FindDocuments(f)
	}, same)
}

func (a *API) getDocument(r *http.Request) (any, error) {
	return one(r, "document", a.server.FindDocument, same)
}

func (a *API) signingLink(r *http.Request) (any, error) {
	document, signer, found := a.server.SigningLink(r.PathValue("token"))
	if !found {
		return nil, notFound("signing link", "…")
	}
	return wire.SignersLink{DocumentID: document.ID, SignerID: signer}, readQuery(r).check()
}

func (a *API) formLink(r *http.Request) (any, error) {
	form, receiver, found := a.server.FormLink(r.PathValue("token"))
	if !found {
		return nil, notFound("form link", "…")
	}
	return wire.ReceiversLink{FormID: form.ID, Receiver: receiver}, readQuery(r).check()
}

// servePDF responds with a PDF of the record that the path names.
func servePDF(read func(s *refserver.Server, ctx context.Context, id string) ([]byte, error)) rawHandler {
	return func(a *API, w http.ResponseWriter, r *http.Request) {
		content, err := read(a.server, r.Context(), r.PathValue("id"))
		switch {
		case err != nil:
			WriteError(w, asError(err))
		case content == nil:
			WriteError(w, failure(http.StatusNotFound, "not_found", "the record is there, but has no such file"))
		default:
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("X-Content-Type-Options", "nosniff") // the file is an upload
			w.Write(content)
		}
	}
}
