package signforms

import "strings"

// DocumentRef identifies a document for Void and Remind. Get one from a record's Ref method, [PDFDocument] or
// [TemplateDocument]. It is comparable. To store one, write its text and read it back with [ParseDocumentRef].
type DocumentRef struct{ documentType, documentID, responseID string }

// PDFDocument returns the reference to a PDF document. Its id is a UUID.
func PDFDocument(documentID string) DocumentRef {
	return DocumentRef{documentType: string(TypePDF), documentID: documentID}
}

// TemplateDocument returns the reference to a document made from a template. The template's id is a UUID. The document's id is
// an ObjectId, which send results call createdDocumentId and respondents call respondentDocumentId.
func TemplateDocument(templateID, createdDocumentID string) DocumentRef {
	return DocumentRef{string(TypePDFTemplate), templateID, createdDocumentID}
}

// ParseDocumentRef parses the text that [DocumentRef.String] returns: PDF:<document id> or
// PDF_TEMPLATE:<template id>:<created document id>. Its error matches ErrInvalid.
func ParseDocumentRef(text string) (DocumentRef, error) {
	var r DocumentRef
	kind, ids, _ := strings.Cut(text, refSeparator)
	switch kind {
	case string(TypePDF):
		r = PDFDocument(ids)
	case string(TypePDFTemplate):
		template, created, _ := strings.Cut(ids, refSeparator)
		r = TemplateDocument(template, created)
	default:
		return DocumentRef{}, parseRef.refused("must be PDF:<document id> or PDF_TEMPLATE:<template id>:<created document id>")
	}
	if _, err := r.inputs(parseRef); err != nil {
		return DocumentRef{}, err
	}
	return r, nil
}

// refSeparator separates the parts of a reference's text. No id contains it.
const refSeparator = ":"

var parseRef = method{name: "parse document reference"}

func (m method) refused(problem string) error {
	var c checks
	c.add("DocumentRef", problem)
	return c.err(m)
}

// String returns the reference as text, such as PDF:0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11, and "" for the zero DocumentRef.
func (r DocumentRef) String() string {
	parts := []string{r.documentType, r.documentID, r.responseID}
	if r.documentType != string(TypePDFTemplate) {
		parts = parts[:2]
	}
	if r == (DocumentRef{}) {
		return ""
	}
	return strings.Join(parts, refSeparator)
}

// MarshalText returns the text of String, so that a reference works in JSON, logs and flags. It returns an error for a
// reference that [ParseDocumentRef] would refuse, except the zero DocumentRef.
func (r DocumentRef) MarshalText() ([]byte, error) {
	if r == (DocumentRef{}) {
		return []byte{}, nil
	}
	if _, err := r.inputs(parseRef); err != nil {
		return nil, err
	}
	return []byte(r.String()), nil
}

// UnmarshalText is [ParseDocumentRef], and reads an empty text as the zero DocumentRef.
func (r *DocumentRef) UnmarshalText(text []byte) (err error) {
	*r = DocumentRef{}
	if len(text) > 0 {
		*r, err = ParseDocumentRef(string(text))
	}
	return err
}

func (r DocumentRef) inputs(m method) (inputs, error) {
	var c checks
	switch r.documentType {
	case string(TypePDF):
		c.uuid("DocumentRef.documentID", r.documentID)
	case string(TypePDFTemplate):
		c.uuid("DocumentRef.templateID", r.documentID)
		if r.responseID == "" {
			c.add("DocumentRef.createdDocumentID", "must be given: of a template, only the documents made from it can be voided or reminded")
		} else {
			c.objectID("DocumentRef.createdDocumentID", r.responseID)
		}
	default:
		c.add("DocumentRef", "must be made with PDFDocument, TemplateDocument or a record's Ref method")
	}
	var in inputs
	in.str("documentId", r.documentID)
	in.str("documentType", r.documentType)
	in.str("responseId", r.responseID)
	return in, c.err(m)
}
