package wire

import (
	"time"

	"github.com/signforms/signforms-go/internal/refserver"
)

// ID is the response to a request that made one record.
type ID struct {
	ID     string `json:"id"`
	Notice string `json:"notice,omitempty"` // a notice about the uploaded PDF
}

// Submitted is the response to a form's submission.
type Submitted struct {
	FormResponseID string `json:"formResponseId"`
}

// Clock is the service's time.
type Clock struct {
	Now   time.Time `json:"now"`
	Ahead Duration  `json:"ahead"` // time by which the clock is ahead of the wall clock

	Advancing   bool     `json:"advancing,omitempty"`   // an advance is running, or waits for another advance
	Unanswering []string `json:"unanswering,omitempty"` // ids of webhooks for which an advance does not wait, because their last attempt got no response
	Unheard     []string `json:"unheard,omitempty"`     // ids of webhooks whose listeners are not connected, so that their attempts fail
}

// LeastAdvance is the unit of the sandbox's clock. A shorter advance would not change the time that
// it shows.
const LeastAdvance = time.Millisecond

// SignersLink is the document and the signer of a signing link.
type SignersLink struct {
	DocumentID string `json:"documentId"`
	SignerID   string `json:"signerId"`
}

// ReceiversLink is the form and the receiver of a form link.
type ReceiversLink struct {
	FormID   string `json:"formId"`
	Receiver string `json:"receiver"` // an e-mail address
}

// RequestFault is a fault of API requests.
type RequestFault struct {
	refserver.Fault
	Latency    Duration `json:"latency,omitempty"`
	RetryAfter *string  `json:"retryAfter,omitempty"` // nil: 60 if the status is 429, and otherwise no header
}

// DeliveryFault is a fault of webhook attempts.
type DeliveryFault struct {
	refserver.WebhookFault
	Delay Duration `json:"delay,omitempty"`
	Shift Duration `json:"shift,omitempty"`
}

// ActiveFault is a fault that is in force. Either Fault or WebhookFault is set.
type ActiveFault struct {
	refserver.ActiveFault
	Fault        *RequestFault  `json:"request,omitempty"`
	WebhookFault *DeliveryFault `json:"delivery,omitempty"`
}

// Delivery is one body that is sent to one webhook.
type Delivery struct {
	refserver.Delivery
	Body     string    `json:"body,omitempty"` // the body that was sent; empty before the first attempt
	Attempts []Attempt `json:"attempts"`
}

// Attempt is one request of a delivery with its response.
type Attempt struct {
	refserver.Attempt
	Took Duration `json:"took"`
	Body string   `json:"body,omitempty"` // set only if it differs from the body of the delivery
}

// TemplateRecord is the current state of a template.
type TemplateRecord struct {
	refserver.TemplateState
	ExpiresFor Duration `json:"expiresFor,omitempty"`
}

// Status describes a sandbox and the number of its records.
type Status struct {
	Version   string `json:"version"`
	URL       string `json:"url"` // the URL in clients, links and payloads
	Data      string `json:"data"`
	Clock     *Clock `json:"clock"`
	Templates int    `json:"templates"`
	Forms     int    `json:"forms"`
	Documents int    `json:"documents"`
	Webhooks  int    `json:"webhooks"`
	Pending   int    `json:"pendingDeliveries"` // deliveries that wait for a finished file or an attempt, or are being sent
	Failed    int    `json:"failedDeliveries"`  // deliveries that are dead
}

// Credentials has the data that a client and a receiver of webhooks need.
type Credentials struct {
	BaseURL       string `json:"baseUrl"`
	APIKey        string `json:"apiKey"`
	WorkspaceID   string `json:"workspaceId"`
	WebhookSecret string `json:"webhookSecret"`
}

// Secret is the secret that signs the deliveries of a webhook.
type Secret struct {
	Secret string `json:"secret"`
}

// Resent is the number of deliveries that are sent again.
type Resent struct {
	Resent int `json:"resent"`
}
