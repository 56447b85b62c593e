package webhook

import "slices"

// member is a set of top-level fields of an event. Each constant is a set of one field.
type member uint16

const (
	memberWebhookEvent member = 1 << iota
	memberDocumentName
	memberDocumentID
	memberDocumentURL
	memberAuthorEmail
	memberFinishedPDFURL
	memberIsSigningOrder
	memberSigners
	memberViewedBy
	memberSignedBy
	memberFormID
	memberFormResponseID
	memberFormTitle
	memberRespondentEmail
	memberResponse
)

const (
	membersDocument  = memberDocumentName | memberDocumentID | memberDocumentURL | memberAuthorEmail | memberSigners
	membersViewed    = membersDocument | memberViewedBy
	membersSigned    = membersDocument | memberSignedBy | memberIsSigningOrder
	membersCompleted = membersDocument | memberFinishedPDFURL
	membersForm      = memberFormID | memberFormResponseID | memberFormTitle | memberFinishedPDFURL |
		memberDocumentURL | memberRespondentEmail | memberResponse
)

// element collects the fields of one event. The type may come last in the JSON, so element has the
// fields of all types.
type element struct {
	meta            meta
	eventType       EventType
	document        Document
	finishedPDFURL  string
	isSigningOrder  bool
	signers         []Signer
	viewedBy        ViewedBy
	signedBy        SignedBy
	formID          string
	formResponseID  string
	formTitle       string
	respondentEmail string
	answers         []FormAnswer
	fields          []Field
	fieldAt         map[string]int // index in fields by key, made once there are many fields
	nullFields      bool           // some fields are marked with nullKind

	given      member // members that the JSON has, even if their value is empty or odd
	ofPDF      member // members with a signer of a PDF document
	ofTemplate member // members with a signer of a template
	misfits    []misfit

	// The position of the decoder.
	reading       member
	keyOfPDF      bool   // the signer has a key of PDF documents
	keyOfTemplate bool   // the signer has a key of templates
	parent        string // key of the list or object that is being read; empty at the top level
	index         int    // index in the list; -1 outside of a list
}

// misfit is a value that could not be read.
type misfit struct {
	member member
	index  int // index of the element in its list; -1 outside of a list
	key    string
	err    *FieldError
}

func (e *element) formResponse() *FormResponse {
	url := e.finishedPDFURL
	unreadable := slices.ContainsFunc(e.misfits, func(m misfit) bool { return m.member == memberFinishedPDFURL })
	if url == "" && !unreadable {
		url = e.document.DocumentURL
	}
	return &FormResponse{
		meta:            e.meta,
		FormID:          e.formID,
		FormResponseID:  e.formResponseID,
		FormTitle:       e.formTitle,
		FinishedPDFURL:  url,
		RespondentEmail: e.respondentEmail,
		Answers:         e.answers,
	}
}

// misfitsOfType returns the misfits in webhookEvent and in the members that events of this type
// have.
func (e *element) misfitsOfType() (misfits []*FieldError) {
	for _, m := range e.misfits {
		if m.member&(memberWebhookEvent|membersOf(e.eventType)) != 0 {
			misfits = append(misfits, m.err)
		}
	}
	return misfits
}

func membersOf(eventType EventType) member {
	switch eventType {
	case TypeFormResponse:
		return membersForm
	case TypeSignatureViewed, TypeTemplateViewed:
		return membersViewed
	case TypeSignatureSigned, TypeTemplateSigned:
		return membersSigned
	case TypeSignatureCompleted, TypeTemplateResponse:
		return membersCompleted
	}
	return 0
}
