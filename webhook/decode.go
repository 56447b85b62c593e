package webhook

import "errors"

// ErrPayload is matched by every error of [Parse]: the payload is not JSON, or not an object or an array of objects.
var ErrPayload = errors.New("webhook: payload is not a JSON object or an array of JSON objects")

// FieldError says which field of an event does not have the JSON type that its event type gives it. It never holds
// the field's value.
type FieldError struct {
	Field string // path from the event, such as signers[2].email
	Want  string // what it should be, such as "a string"
}

// Error returns a text such as: webhook: field signers[2].email is not a string.
func (e *FieldError) Error() string {
	return "webhook: field " + e.Field + " is not " + e.Want
}
