package webhook

// Members that only some events have.
const (
	membersFormOnly     = memberFormID | memberFormResponseID | memberFormTitle | memberRespondentEmail | memberResponse
	membersDocumentOnly = memberDocumentName | memberDocumentID | memberAuthorEmail | memberSigners | membersOfSteps&^memberFinishedPDFURL
	membersOfSteps      = memberViewedBy | memberSignedBy | memberIsSigningOrder | memberFinishedPDFURL
)

// infer chooses the type of an event without webhookEvent by its keys. The service does not document such events, but its
// samples contain them. A key that is there is evidence, however empty its value; null counts as missing. A type needs
// keys that only it has, and none that only other types have. Else the result is empty: an UnknownEvent is reported, and
// a wrong type would not be.
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
