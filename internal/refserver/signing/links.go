package signing

import "strings"

// Links builds the URLs that the service hands out.
type Links struct {
	Base   string // the service's public URL without a slash at the end
	Prefix string // of the names of PDFs
}

// Document is where a document's PDF is shown. It is not a secret: it holds the document's id only.
func (l Links) Document(id string) string { return l.Base + "/documents/" + l.Prefix + id + ".pdf" }

// Finished is where the signed PDF of a completed document, or the PDF of a form response, is.
func (l Links) Finished(id string) string { return l.Base + "/finished/" + l.Prefix + id + ".pdf" }

// IDOf returns the id in the name of a PDF.
func (l Links) IDOf(name string) string {
	return strings.TrimPrefix(strings.TrimSuffix(name, ".pdf"), l.Prefix)
}

// Sign is a signer's own link: whoever has it can sign, so it is never logged.
func (l Links) Sign(token string) string { return l.Base + "/sign/" + token }

// Form is the link under which a receiver fills in a form.
func (l Links) Form(token string) string { return l.Base + "/form/" + token }
