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
func (a *API) createTemplate(ctx context.Context, server *refserver.Server, t wire.Template) (made wire.ID, err error) {
	if made.Notice, err = a.checkFile(ctx, t.PDF, t.Fields); err != nil {
		return made, err
	}
	t.Template.ExpiresFor = time.Duration(t.ExpiresFor)
	made.ID, err = server.AddTemplate(t.Template)
	return made, err
}

// createDocument makes a document. It refuses a PDF that signers could not read.
func (a *API) createDocument(ctx context.Context, server *refserver.Server, d wire.Document) (made wire.ID, err error) {
	if made.Notice, err = a.checkFile(ctx, d.PDF, d.Fields); err != nil {
		return made, err
	}
	d.Document.ExpiresFor = time.Duration(d.ExpiresFor)
	made.ID, err = server.AddDocument(d.Document)
	return made, err
}

// checkFile refuses a file that is not a readable PDF, and fields on pages that the PDF does not
// have. No file means one empty page. It returns a notice for the person who uploaded the file.
func (a *API) checkFile(ctx context.Context, data []byte, fields []refserver.TemplateField) (notice string, err error) {
	pages := 1
	if data != nil {
		found, err := a.Inspect(ctx, data)
		if errors.Is(err, pdf.ErrBusy) {
			return "", failure(http.StatusServiceUnavailable, "busy", "%v", err)
		}
		if pdf.Refusal(err) != nil {
			return "", failure(http.StatusUnprocessableEntity, "input", "pdf: %v", err)
		}
		if err != nil {
			return "", failure(http.StatusServiceUnavailable, "pdf", "the PDF could not be checked, and nothing was changed: %v", err)
		}
		if pages = len(found.Pages); found.Signed {
			notice = pdf.SignedNotice
		}
	}
	for i, f := range fields {
		if f.Page > pages {
			return "", failure(http.StatusUnprocessableEntity, "input", "fields[%d].page is %d: the last page of the PDF is %d", i, f.Page, pages)
		}
	}
	return notice, nil
}
