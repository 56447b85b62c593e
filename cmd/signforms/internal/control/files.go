package control

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

// createTemplate makes a template. It refuses a PDF that signers could not read.
func (a *API) createTemplate(ctx context.Context, server *refserver.Server, t wire.Template) (id string, err error) {
	if err := a.checkFile(ctx, t.PDF, t.Fields); err != nil {
		return "", err
	}
	t.Template.ExpiresFor = time.Duration(t.ExpiresFor)
	return server.AddTemplate(t.Template)
}

// createDocument makes a document. It refuses a PDF that signers could not read.
func (a *API) createDocument(ctx context.Context, server *refserver.Server, d wire.Document) (id string, err error) {
	if err := a.checkFile(ctx, d.PDF, d.Fields); err != nil {
		return "", err
	}
	d.Document.ExpiresFor = time.Duration(d.ExpiresFor)
	return server.AddDocument(d.Document)
}

// checkFile refuses a file that is not a readable PDF, and fields on pages that the PDF does not have. No file means
// one empty page.
func (a *API) checkFile(ctx context.Context, data []byte, fields []refserver.TemplateField) error {
	pages := 1
	if data != nil {
		found, err := a.Inspect(ctx, data)
		if errors.Is(err, pdf.ErrBusy) {
			return failure(http.StatusServiceUnavailable, "busy", "%v", err)
		}
		if pdf.Refusal(err) != nil {
			return failure(http.StatusUnprocessableEntity, "input", "pdf: %v", err)
		}
		if err != nil {
			return failure(http.StatusServiceUnavailable, "pdf", "the PDF could not be checked, and nothing was changed: %v", err)
		}
		pages = len(found.Pages)
	}
	for i, f := range fields {
		if f.Page > pages {
			return failure(http.StatusUnprocessableEntity, "input", "fields[%d].page is %d: the last page of the PDF is %d", i, f.Page, pages)
		}
	}
	return nil
}
