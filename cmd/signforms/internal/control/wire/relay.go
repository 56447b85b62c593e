package wire

import (
	"net/http"
	"time"
)

// RelayInput says which events a relay gets.
type RelayInput struct {
	Events    []string `json:"events,omitempty"`    // families; none: all three
	Documents []string `json:"documents,omitempty"` // ids; none: all
}

// RelayRecord is an open relay.
type RelayRecord struct {
	Webhooks      []string `json:"webhooks"` // ids
	WebhookSecret string   `json:"webhookSecret"`
}

// RelayedAttempt is an attempt on its way to a listener.
type RelayedAttempt struct {
	ID     int64       `json:"id"`
	At     time.Time   `json:"at"`
	Header http.Header `json:"header"` // as it was sent
	Body   []byte      `json:"body"`   // in base64: exactly the bytes that were sent
}

// RelayedAnswer is a listener's report of an attempt.
type RelayedAnswer struct {
	Status int         `json:"status"` // 0: there was no answer
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body,omitempty"`  // in base64
	Error  string      `json:"error,omitempty"` // why there was no answer
}
