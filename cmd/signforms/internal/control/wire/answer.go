package wire

// Error is the error in an answer.
type Error struct {
	Status  int    `json:"-"`              // of HTTP
	Code    string `json:"code"`           // docs/control.yaml lists the codes
	Message string `json:"message"`        // says what to do
	Path    string `json:"path,omitempty"` // the part of a seed that is wrong, as in templates[0]
}

func (e *Error) Error() string { return e.Message }

// ErrorBody is the body of every answer with an error.
type ErrorBody struct {
	Error *Error `json:"error"`
}
