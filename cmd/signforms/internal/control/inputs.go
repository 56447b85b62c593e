package control

import (
	"time"

	"github.com/signforms/signforms-go/signformstest"
)

// The types of signformstest that have names, kinds and numbers alone go over the wire as they are. Those with a length of time, a
// link or a key of a seed have a type here, whose fields stand in place of the embedded ones of the same name.

// Template is the input for a new template. In a seed file PDF is the name of a file.
type Template struct {
	Key string `json:"key,omitempty"` // in a seed: a name for it that webhooks of the seed can use
	signformstest.Template
	ExpiresFor Duration `json:"expiresFor,omitempty"`
}

// Form is the input for a new form.
type Form struct {
	Key string `json:"key,omitempty"` // as in a Template
	signformstest.Form
}

// Document is the input for a new PDF document. In a seed file PDF is the name of a file.
type Document struct {
	Key string `json:"key,omitempty"` // as in a Template
	signformstest.Document
	ExpiresFor Duration `json:"expiresFor,omitempty"`
}

// Viewing is a signer who opens a document.
type Viewing struct {
	Signer string               `json:"signer"` // e-mail address, or signerId where one address has several roles
	From   signformstest.Origin `json:"from,omitzero"`
}

// Signature is what a signer enters.
type Signature struct {
	Signer string                     `json:"signer"`
	Fields []signformstest.FieldValue `json:"fields,omitempty"`
	From   signformstest.Origin       `json:"from,omitzero"`
}

// Refusal is the input of a signer who declines.
type Refusal struct {
	Signer string               `json:"signer"`
	Reason string               `json:"reason,omitempty"`
	From   signformstest.Origin `json:"from,omitzero"`
}

// Advance moves the clock.
type Advance struct {
	By Duration `json:"by"`
}

// Wait bounds how long a request may wait.
type Wait struct {
	Timeout Duration `json:"timeout,omitempty"` // default 30s, at most 10m
}

// Since selects the deliveries that are sent again: those of events since this time.
type Since struct {
	Since time.Time `json:"since,omitzero"`
}
