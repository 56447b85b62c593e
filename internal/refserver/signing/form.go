package signing

import "time"

// Form is a list of questions. Whoever has its link can answer.
type Form struct {
	ID          string // a UUID in events; any text as an input
	WorkspaceID string
	Title       string
	Fields      []FormField
	CreatedAt   time.Time
}

// FormField is one question of a form.
type FormField struct {
	ID       string
	Question string
	Kind     QuestionKind // empty: text
	Required bool
	Choices  []string // of a choice
}

// FormAnswer is the answer to one question.
type FormAnswer struct {
	FieldID  string
	Question string
	Answer   string
}

// FormResponse is a submitted form.
type FormResponse struct {
	ID              string // formResponseId, a UUID
	ObjectID        string // responseId, 24 hexadecimal digits
	FormID          string
	WorkspaceID     string
	RespondentEmail string // empty when unknown
	Answers         []FormAnswer
	SubmittedAt     time.Time
}

// SubmitParams are the inputs of submitting a form.
type SubmitParams struct {
	RespondentEmail string
	Answers         []FormAnswer // Question is filled in from the form
	From            Origin
}
