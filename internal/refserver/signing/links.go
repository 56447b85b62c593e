package signing

import "strings"

// Links makes the URLs that the service returns.
type Links struct {
	Base   string // the service's public URL without a slash at the end
	Prefix string // prefix of the names of PDFs
}

// Document returns the URL of a document's PDF. The URL is not a secret, because it contains only
// the document's id.
func (l Links) Document(id string) string { return l.Base + "/documents/" + l.Prefix + id + ".pdf" }

// Finished returns the URL of the signed PDF of a completed document, or of the PDF of a form
// response.
func (l Links) Finished(id string) string { return l.Base + "/finished/" + l.Prefix + id + ".pdf" }

// IDOf returns the id in the name of a PDF.
func (l Links) IDOf(name string) string {
	return strings.TrimPrefix(strings.TrimSuffix(name, ".pdf"), l.Prefix)
}

// Sign returns the signing link of a signer. Whoever has the link can sign, so it is never logged.
func (l Links) Sign(token string) string { return l.Base + "/sign/" + token }

// Form returns the link at which a receiver fills in a form.
func (l Links) Form(token string) string { return l.Base + "/form/" + token }
