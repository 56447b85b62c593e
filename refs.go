package signforms

// DocumentRef says which document to void or to remind. [PDFDocument] and [TemplateDocument] make one; records make their own
// with their Ref methods. It is comparable.
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

// String names the document, such as PDF 0d8e3a4c-… or template document 66f0….
func (r DocumentRef) String() string {
	switch r.documentType {
	case "":
		return "no document"
	case string(TypePDF):
		return "PDF " + r.documentID
	}
	return "template document " + r.responseID + " of " + r.documentID
}

func (r DocumentRef) inputs(op Operation) (inputs, error) {
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
		c.add("DocumentRef", "must be made with PDF, TemplateDocument or a record's Ref method")
	}
	var in inputs
	in.str("documentId", r.documentID)
	in.str("documentType", r.documentType)
	in.str("responseId", r.responseID)
	return in, c.err(op)
}
