package signing

// Links builds the URLs that the service hands out. Base is the service's public URL without a slash at the end.
type Links struct{ Base string }

// Document is where a document's PDF is shown. It is not a secret: it holds the document's id only.
func (l Links) Document(id string) string { return l.Base + "/documents/" + id + ".pdf" }

// Finished is where the signed PDF of a completed document, or the PDF of a form response, is.
func (l Links) Finished(id string) string { return l.Base + "/finished/" + id + ".pdf" }

// Sign is a signer's own link: whoever has it can sign, so it is never logged.
func (l Links) Sign(token string) string { return l.Base + "/sign/" + token }

// Form is the link under which a receiver fills in a form.
func (l Links) Form(token string) string { return l.Base + "/form/" + token }
