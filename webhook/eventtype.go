package webhook

// build returns the event that the fields make. Its type is what webhookEvent says (decode.go), or else what infer
// finds: also where webhookEvent is not a string. An event whose type is unknown, or cannot be read, is an
// UnknownEvent.
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
		return e.unknown(misfits[0]) // no other member can be here: without a type, only webhookEvent counts
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

// infer chooses the type of an event without webhookEvent by its keys. The service does not document such events, but
// its samples contain them. A key that is there is evidence, however empty its value; null counts as missing. A type
// needs keys that only it has, and none that only other types have. A signer with a roleTitle or signerId is of a
// template, any other with a signerIp of a PDF document; so is the one of viewedBy or signedBy. If the signers are of
// different kinds, the result is empty: an UnknownEvent is reported, but nobody would notice a wrong type.
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
		return "" // signers of no kind or of both, or what they filled in before they all signed
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
