package control

import (
	"net/http"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/signformstest"
)

// create makes the template. It refuses a PDF that signers could not read.
func (t Template) create(server *signformstest.Server) (id string, err error) {
	if err := checkFile(t.PDF, t.Fields); err != nil {
		return "", err
	}
	t.Template.ExpiresFor = time.Duration(t.ExpiresFor)
	return server.TryAddTemplate(t.Template)
}

// create makes the document. It refuses a PDF that signers could not read.
func (d Document) create(server *signformstest.Server) (id string, err error) {
	if err := checkFile(d.PDF, d.Fields); err != nil {
		return "", err
	}
	d.Document.ExpiresFor = time.Duration(d.ExpiresFor)
	return server.TryAddDocument(d.Document)
}

// checkFile refuses a file that is not a readable PDF, and fields on pages that the PDF does not have. An empty file means one
// empty page.
func checkFile(data []byte, fields []signformstest.TemplateField) error {
	pages := 1
	if len(data) > 0 {
		found, err := pdf.Inspect(data)
		if err != nil {
			return failure(http.StatusUnprocessableEntity, "input", "pdf: %v", err)
		}
		pages = len(found)
	}
	for i, f := range fields {
		if f.Page > pages {
			return failure(http.StatusUnprocessableEntity, "input", "fields[%d].page is %d: the last page of the PDF is %d", i, f.Page, pages)
		}
	}
	return nil
}
