package webhook

// Members that only some events have.
const (
	membersFormOnly     = memberFormID | memberFormResponseID | memberFormTitle | memberRespondentEmail | memberResponse
	membersDocumentOnly = memberDocumentName | memberDocumentID | memberAuthorEmail | memberSigners | membersOfSteps&^memberFinishedPDFURL
	membersOfSteps      = memberViewedBy | memberSignedBy | memberIsSigningOrder | memberFinishedPDFURL
)

// infer chooses the type of an event without webhookEvent by its fields. The service does not document such events, but its
// samples contain them. A type needs fields that only it has, and none that only other types have; else the result is empty:
// an UnknownEvent is reported, and a wrong type would not be. Empty values count as missing.
func (e *element) infer() EventType {
	read := e.valued
	given := read
	for _, m := range e.misfits {
		given |= m.member
	}
	if given&membersFormOnly != 0 {
		const answers = memberFormID | memberResponse
		response := read&memberFormResponseID != 0 || read&answers == answers
		if response && given&membersDocumentOnly == 0 && len(e.fields) == 0 {
			return TypeFormResponse
		}
		return ""
	}
	pdf, template := e.signerKinds()
	switch step := given & membersOfSteps; {
	case pdf == template || step&read&^memberIsSigningOrder == 0 || step != memberFinishedPDFURL && len(e.fields) > 0:
		return ""
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

// signerKinds reports whether signers have fields of PDF documents and of templates. Each kind was seen with fields of the
// other (not documented by the service): then both are true.
func (e *element) signerKinds() (pdf, template bool) {
	note := func(s *Signer) {
		pdf = pdf || s.SignerIP != ""
		template = template || s.RoleTitle != "" || s.SignerID != ""
	}
	for i := range e.signers {
		note(&e.signers[i])
	}
	note(&e.viewedBy.Signer)
	note(&e.signedBy.Signer)
	return pdf, template
}
