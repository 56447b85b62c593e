package webhook

// build returns the event that the fields make. The type is the value of webhookEvent (see
// decode.go). If webhookEvent is missing or not a string, the type is the one that infer finds. An
// event whose type is unknown or unreadable is an UnknownEvent.
func (e *element) build() Event {
	e.dropNullFields()
	inferred := false
	if e.eventType == "" {
		e.eventType = e.infer()
		inferred = e.eventType != ""
	}
	e.meta.Type = e.eventType
	switch misfits := e.misfitsOfType(); {
	case len(misfits) > 0 && e.eventType == "":
		return e.unknown(misfits[0]) // without a type, only a misfit of webhookEvent counts
	case len(misfits) > 0:
		e.meta.notes = &notes{inferred: inferred, misfits: misfits}
	case inferred:
		e.meta.notes = &inferredOnly
	}
	return e.typed()
}

func (e *element) unknown(err error) *UnknownEvent {
	return &UnknownEvent{
		meta: e.meta, Type: e.eventType, Err: err, DocumentID: e.document.DocumentID, FormResponseID: e.formResponseID,
		signerIDs: signerIDs(e.signers, e.viewedBy.ID, e.signedBy.ID),
	}
}

func (e *element) typed() Event {
	switch e.eventType {
	case TypeFormResponse:
		return e.formResponse()
	case TypeSignatureViewed:
		return &SignatureViewed{e.meta, e.document, e.signers, e.viewedBy}
	case TypeSignatureSigned:
		return &SignatureSigned{e.meta, e.document, e.isSigningOrder, e.signers, e.signedBy}
	case TypeSignatureCompleted:
		return &SignatureCompleted{e.meta, e.document, e.finishedPDFURL, e.signers, e.fields}
	case TypeTemplateViewed:
		return &TemplateViewed{e.meta, e.document, e.signers, e.viewedBy}
	case TypeTemplateSigned:
		return &TemplateSigned{e.meta, e.document, e.isSigningOrder, e.signers, e.signedBy}
	case TypeTemplateResponse:
		return &TemplateResponse{e.meta, e.document, e.finishedPDFURL, e.signers, e.fields}
	case "":
		return e.unknown(errNoType)
	}
	return e.unknown(nil)
}

// Members that only some events have.
const (
	membersFormOnly     = memberFormID | memberFormResponseID | memberFormTitle | memberRespondentEmail | memberResponse
	membersDocumentOnly = memberDocumentName | memberDocumentID | memberAuthorEmail | memberSigners | membersOfSteps&^memberFinishedPDFURL
	membersOfSteps      = memberViewedBy | memberSignedBy | memberIsSigningOrder | memberFinishedPDFURL
)

// infer finds the type of an event without webhookEvent by its keys. The service does not document
// such events, but its samples contain them.
//
// A key counts even if its value is empty, but not if its value is null. A type requires keys that
// only this type has, and no keys that only other types have.
//
// A signer with a roleTitle or signerId belongs to a template. Any other signer with a signerIp
// belongs to a PDF document. The same holds for the signers of viewedBy and signedBy. If the
// signers are of different kinds, infer returns an empty type: an UnknownEvent is reported, but
// nobody would notice a wrong type.
func (e *element) infer() EventType {
	if e.given&membersFormOnly != 0 {
		const answers = memberFormID | memberResponse
		response := e.given&memberFormResponseID != 0 || e.given&answers == answers
		if response && e.given&membersDocumentOnly == 0 && len(e.fields) == 0 {
			return TypeFormResponse
		}
		return ""
	}
	template := e.ofTemplate != 0
	step := e.given & membersOfSteps
	if template == (e.ofPDF != 0) || step != memberFinishedPDFURL && len(e.fields) > 0 {
		return "" // signers of no kind or of both kinds, or filled-in fields before the last signature
	}
	switch {
	case step == memberViewedBy:
		return either(template, TypeTemplateViewed, TypeSignatureViewed)
	case step&^memberIsSigningOrder == memberSignedBy:
		return either(template, TypeTemplateSigned, TypeSignatureSigned)
	case step == memberFinishedPDFURL:
		return either(template, TypeTemplateResponse, TypeSignatureCompleted)
	}
	return ""
}

func either(template bool, ofTemplate, ofPDF EventType) EventType {
	if template {
		return ofTemplate
	}
	return ofPDF
}
