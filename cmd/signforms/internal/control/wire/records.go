package wire

import (
	"time"

	"github.com/signforms/signforms-go/internal/refserver"
)

// ID is the answer to a request that made one record.
type ID struct {
	ID     string `json:"id"`
	Notice string `json:"notice,omitempty"` // what to know of the uploaded PDF
}

// Submitted is the answer to a form's submission.
type Submitted struct {
	FormResponseID string `json:"formResponseId"`
}

// Clock is the service's time.
type Clock struct {
	Now   time.Time `json:"now"`
	Ahead Duration  `json:"ahead"` // of the wall clock

	Advancing   bool     `json:"advancing,omitempty"`   // an advance is under way, or waits for another
	Unanswering []string `json:"unanswering,omitempty"` // ids of webhooks that an advance does not wait for: they gave their last attempt no answer
	Unheard     []string `json:"unheard,omitempty"`     // ids of webhooks of listeners that are not connected: their attempts fail
}

// LeastAdvance is the unit of the sandbox's clock. Less would leave what it shows as it is.
const LeastAdvance = time.Millisecond

// SignersLink is what a signing link opens.
type SignersLink struct {
	DocumentID string `json:"documentId"`
	SignerID   string `json:"signerId"`
}

// ReceiversLink is what the link to a form opens.
type ReceiversLink struct {
	FormID   string `json:"formId"`
	Receiver string `json:"receiver"` // an e-mail address
}

// RequestFault is something that goes wrong with API requests.
type RequestFault struct {
	refserver.Fault
	Latency    Duration `json:"latency,omitempty"`
	RetryAfter *string  `json:"retryAfter,omitempty"` // nil: 60 with status 429, otherwise none
}

// DeliveryFault is something that goes wrong with webhook attempts.
type DeliveryFault struct {
	refserver.WebhookFault
	Delay Duration `json:"delay,omitempty"`
	Shift Duration `json:"shift,omitempty"`
}

// ActiveFault is a fault that is in force. One of Fault and WebhookFault is set.
type ActiveFault struct {
	refserver.ActiveFault
	Fault        *RequestFault  `json:"request,omitempty"`
	WebhookFault *DeliveryFault `json:"delivery,omitempty"`
}

// Delivery is one body that is sent to one webhook.
type Delivery struct {
	refserver.Delivery
	Body     string    `json:"body,omitempty"` // as it was sent; empty before the first attempt
	Attempts []Attempt `json:"attempts"`
}

// Attempt is one request of a delivery and what came back.
type Attempt struct {
	refserver.Attempt
	Took Duration `json:"took"`
	Body string   `json:"body,omitempty"` // only if it differs from the delivery's
}

// TemplateRecord is the current state of a template.
type TemplateRecord struct {
	refserver.TemplateState
	ExpiresFor Duration `json:"expiresFor,omitempty"`
}

// Status tells what a sandbox is and what it holds.
type Status struct {
	Version   string `json:"version"`
	URL       string `json:"url"` // the URL in clients, links and payloads
	Data      string `json:"data"`
	Clock     *Clock `json:"clock"`
	Templates int    `json:"templates"`
	Forms     int    `json:"forms"`
	Documents int    `json:"documents"`
	Webhooks  int    `json:"webhooks"`
	Pending   int    `json:"pendingDeliveries"` // waiting for a finished file or an attempt, or under way
	Failed    int    `json:"failedDeliveries"`  // given up
}

// Credentials holds what a client and a receiver of webhooks need.
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

// Resent tells how many deliveries are sent again.
type Resent struct {
	Resent int `json:"resent"`
}
