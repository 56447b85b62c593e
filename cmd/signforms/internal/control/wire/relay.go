package wire

import (
	"net/http"
	"time"
)

// RelayInput selects the events that a relay gets.
type RelayInput struct {
	Events    []string `json:"events,omitempty"`    // families; empty: all three
	Documents []string `json:"documents,omitempty"` // ids; empty: all
}

// RelayRecord is an open relay.
type RelayRecord struct {
	Webhooks      []string `json:"webhooks"` // ids of its webhooks
	WebhookSecret string   `json:"webhookSecret"`
}

// RelayedAttempt is an attempt that is passed on to a listener.
type RelayedAttempt struct {
	ID     int64       `json:"id"`
	At     time.Time   `json:"at"`
	Header http.Header `json:"header"` // header that was sent
	Body   []byte      `json:"body"`   // body that was sent, byte for byte; in base64 as JSON
}

// RelayedAnswer is a listener's report of an attempt.
type RelayedAnswer struct {
	Status int         `json:"status"` // 0: there was no response
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body,omitempty"`  // body of the response, in base64
	Error  string      `json:"error,omitempty"` // why there was no response
}
