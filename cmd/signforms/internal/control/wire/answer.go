package wire

// Error is the error in a response.
type Error struct {
	Status  int    `json:"-"`              // HTTP status
	Code    string `json:"code"`           // docs/control.yaml lists the codes
	Message string `json:"message"`        // describes the error and its remedy
	Path    string `json:"path,omitempty"` // the invalid part of a seed, such as templates[0]
}

func (e *Error) Error() string { return e.Message }

// ErrorBody is the body of every error response.
type ErrorBody struct {
	Error *Error `json:"error"`
}
