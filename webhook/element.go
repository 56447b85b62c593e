package webhook

// member is a set of an event's top-level fields; each constant is one of them.
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

// element collects the fields of one event. Its type may come last, so it has the fields of all types.
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
	answers         []Answer
	fields          []Field
	fieldAt         map[string]int // index in fields by key, once there are many
	nullFields      bool           // some of fields are marked with nullKind

	present member // members that are present and not null
	misfits []misfit

	// Where the decoder is.
	reading member
	parent  string // key of the list or object that is being read, empty at the top
	index   int    // in a list, else -1
}

// misfit is a value of the wrong JSON type.
type misfit struct {
	member member
	err    *FieldError
}

// build returns the event that the fields make.
func (e *element) build() Event {
	if e.eventType == "" && e.misfitIn(memberWebhookEvent) == nil {
		e.eventType = e.infer()
		e.meta.inferred = e.eventType != ""
	}
	e.dropNullFields()
	members, event := e.typed()
	if err := e.misfitIn(members | memberWebhookEvent); err != nil {
		return e.unknown(err)
	}
	return event
}

func (e *element) unknown(err error) *UnknownEvent {
	subject := e.formResponseID
	if subject == "" {
		subject = e.document.DocumentID
	}
	return &UnknownEvent{meta: e.meta, Type: e.eventType, Err: err, subject: subject}
}

// typed returns the event, whether its fields fit or not, and the members that its type has.
func (e *element) typed() (member, Event) {
	switch e.eventType {
	case TypeFormResponse:
		return membersForm, e.formResponse()
	case TypeSignatureViewed:
		return membersViewed, &SignatureViewed{e.meta, e.document, e.signers, e.viewedBy}
	case TypeSignatureSigned:
		return membersSigned, &SignatureSigned{e.meta, e.document, e.isSigningOrder, e.signers, e.signedBy}
	case TypeSignatureCompleted:
		return membersCompleted, &SignatureCompleted{e.meta, e.document, e.finishedPDFURL, e.signers, e.fields}
	case TypeTemplateViewed:
		return membersViewed, &TemplateViewed{e.meta, e.document, e.signers, e.viewedBy}
	case TypeTemplateSigned:
		return membersSigned, &TemplateSigned{e.meta, e.document, e.isSigningOrder, e.signers, e.signedBy}
	case TypeTemplateResponse:
		return membersCompleted, &TemplateResponse{e.meta, e.document, e.finishedPDFURL, e.signers, e.fields}
	}
	if e.eventType == "" {
		return 0, e.unknown(errNoType)
	}
	return 0, e.unknown(nil)
}

func (e *element) formResponse() *FormResponse {
	url := e.finishedPDFURL
	if url == "" {
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

// misfitIn returns the first misfit among members, or nil.
func (e *element) misfitIn(members member) error {
	for _, m := range e.misfits {
		if m.member&members != 0 {
			return m.err
		}
	}
	return nil
}

// infer chooses the type of an event without webhookEvent by its fields, or returns an empty type. The service does not
// document such events, but its samples contain them.
func (e *element) infer() EventType {
	if e.present&memberFormResponseID != 0 {
		return TypeFormResponse
	}
	template := e.hasTemplateSigner()
	switch {
	case e.present&memberViewedBy != 0 && template:
		return TypeTemplateViewed
	case e.present&memberViewedBy != 0:
		return TypeSignatureViewed
	case e.present&memberSignedBy != 0 && template:
		return TypeTemplateSigned
	case e.present&memberSignedBy != 0:
		return TypeSignatureSigned
	case e.present&memberFinishedPDFURL != 0 && template:
		return TypeTemplateResponse
	case e.present&memberFinishedPDFURL != 0:
		return TypeSignatureCompleted
	}
	return ""
}

func (e *element) hasTemplateSigner() bool {
	for i := range e.signers {
		if e.signers[i].fromTemplate() {
			return true
		}
	}
	return e.viewedBy.fromTemplate() || e.signedBy.fromTemplate()
}

func (s *Signer) fromTemplate() bool { return s.RoleTitle != "" || s.SignerID != "" }
