package signforms

import "strings"

// DocumentRef says which document to void or to remind. [PDFDocument] and [TemplateDocument] make one; records make their own
// with their Ref methods. It is comparable, and survives storage as text: see [ParseDocumentRef].
type DocumentRef struct{ documentType, documentID, responseID string }

// PDFDocument refers to a PDF document by its id, a UUID.
func PDFDocument(documentID string) DocumentRef {
	return DocumentRef{documentType: string(TypePDF), documentID: documentID}
}

// TemplateDocument refers to a document made from a template: the template's id, a UUID, and the id of the document, an
// ObjectId that is called createdDocumentId in send results and respondentDocumentId in respondents.
func TemplateDocument(templateID, createdDocumentID string) DocumentRef {
	return DocumentRef{string(TypePDFTemplate), templateID, createdDocumentID}
}

// ParseDocumentRef reads the text of a reference, as String writes it: PDF:<document id> or
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

// refSeparator stands between the parts of a reference's text. No id holds it.
const refSeparator = ":"

var parseRef = method{name: "parse document reference"}

func (m method) refused(problem string) error {
	var c checks
	c.add("DocumentRef", problem)
	return c.err(m)
}

// String returns the reference as text, such as PDF:0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11, for [ParseDocumentRef]. The
// zero DocumentRef is the empty text.
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

// MarshalText returns what String does, so that a reference can be stored as JSON, in a column or in a flag, and used after
// a restart. It fails for a reference that [ParseDocumentRef] would not read; the zero DocumentRef is the empty text.
func (r DocumentRef) MarshalText() ([]byte, error) {
	if r == (DocumentRef{}) {
		return []byte{}, nil
	}
	if _, err := r.inputs(parseRef); err != nil {
		return nil, err
	}
	return []byte(r.String()), nil
}

// UnmarshalText reads what MarshalText wrote: see [ParseDocumentRef]. An empty text is the zero DocumentRef.
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
