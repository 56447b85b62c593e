package wire

import (
	"slices"
	"time"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Template is the input for a new template. In a seed file PDF is the name of a file.
type Template struct {
	Key string `json:"key,omitempty"` // in a seed, a name for the record that webhooks of the seed can use
	refserver.Template
	ExpiresFor Duration `json:"expiresFor,omitempty"`
}

// Form is the input for a new form.
type Form struct {
	Key string `json:"key,omitempty"` // see Template.Key
	refserver.Form
}

// Document is the input for a new PDF document. In a seed file PDF is the name of a file.
type Document struct {
	Key string `json:"key,omitempty"` // see Template.Key
	refserver.Document
	ExpiresFor Duration `json:"expiresFor,omitempty"`
}

// Viewing is a signer who opens a document.
type Viewing struct {
	Signer string           `json:"signer"` // e-mail address of the signer, or signerId if one address has several roles
	From   refserver.Origin `json:"from,omitzero"`
}

// Signature is the input of a signer who signs.
type Signature struct {
	Signer string                 `json:"signer"`
	Fields []refserver.FieldValue `json:"fields,omitempty"`
	From   refserver.Origin       `json:"from,omitzero"`
}

// Refusal is the input of a signer who declines.
type Refusal struct {
	Signer string           `json:"signer"`
	Reason string           `json:"reason,omitempty"`
	From   refserver.Origin `json:"from,omitzero"`
}

// Advance is the input for moving the clock.
type Advance struct {
	By Duration `json:"by"`
}

// Wait is the longest time that a request may wait.
type Wait struct {
	Timeout Duration `json:"timeout,omitempty"` // default 30s, at most 10m
}

// Since selects the deliveries to send again: the deliveries of events since this time.
type Since struct {
	Since time.Time `json:"since,omitzero"`
}

// Seed is a set of records to start with. Its webhooks name templates, forms and documents by keys, which are valid
// only in the seed.
type Seed struct {
	Templates []Template          `json:"templates,omitempty"`
	Forms     []Form              `json:"forms,omitempty"`
	Documents []Document          `json:"documents,omitempty"`
	Webhooks  []refserver.Webhook `json:"webhooks,omitempty"`
}

// Seeded has the ids of the records of a seed, in the order of the seed and by key.
type Seeded struct {
	Templates []string          `json:"templates"`
	Forms     []string          `json:"forms"`
	Documents []string          `json:"documents"`
	Webhooks  []string          `json:"webhooks"`
	Keys      map[string]string `json:"keys"`
}

// eventFamilies are the families of events that a webhook can select.
var eventFamilies = []refserver.EventFamily{refserver.TemplateResponse, refserver.SignatureCompleted, refserver.FormResponse}

// EventFamilies returns the possible values of a webhook's event, sorted.
func EventFamilies() (all []string) {
	for _, family := range slices.Sorted(slices.Values(eventFamilies)) {
		all = append(all, string(family))
	}
	return all
}
