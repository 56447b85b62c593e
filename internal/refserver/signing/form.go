package signing

import "time"

// Form is a list of questions. Whoever has its link can submit it.
type Form struct {
	ID        string      // a UUID in events; any text as an input
	Title     string      `json:",omitzero"`
	Fields    []FormField `json:",omitzero"`
	CreatedAt time.Time   `json:",omitzero"`
}

// FormField is one question of a form.
type FormField struct {
	ID       string
	Question string       `json:",omitzero"`
	Kind     QuestionKind `json:",omitzero"` // empty: a text question
	Required bool         `json:",omitzero"`
	Choices  []string     `json:",omitzero"` // choices of a choice question
}

// FormAnswer is the answer to one question.
type FormAnswer struct {
	FieldID  string `json:",omitzero"`
	Question string `json:",omitzero"`
	Answer   string `json:",omitzero"`
}

// FormResponse is a submitted form.
type FormResponse struct {
	ID              string       // formResponseId, a UUID
	ObjectID        string       `json:",omitzero"` // responseId, 24 hexadecimal digits
	FormID          string       `json:",omitzero"`
	RespondentEmail string       `json:",omitzero"` // empty if unknown
	Answers         []FormAnswer `json:",omitzero"`
	SubmittedAt     time.Time    `json:",omitzero"`
}

// SubmitParams are the inputs of submitting a form.
type SubmitParams struct {
	RespondentEmail string
	Answers         []FormAnswer // the field Question is set from the form
	From            Origin
}
