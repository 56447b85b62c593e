package control

import (
	"net/http"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// RequestFault is something that goes wrong with API requests; see signformstest.Fault.
type RequestFault struct {
	Operation   string  `json:"operation,omitempty"`
	DocumentID  string  `json:"documentId,omitempty"`
	Nth         int     `json:"nth,omitempty"`
	Times       int     `json:"times,omitempty"`
	Probability float64 `json:"probability,omitempty"`

	AfterWork   bool     `json:"afterWork,omitempty"`
	Latency     Duration `json:"latency,omitempty"`
	Reset       bool     `json:"reset,omitempty"`
	Status      int      `json:"status,omitempty"`
	Body        string   `json:"body,omitempty"`
	ContentType string   `json:"contentType,omitempty"`
	RetryAfter  string   `json:"retryAfter,omitempty"`
	Cut         int      `json:"cut,omitempty"`
	Drip        Duration `json:"drip,omitempty"`
	Unknown     bool     `json:"unknown,omitempty"`
	WrongTypes  bool     `json:"wrongTypes,omitempty"`
}

func (f RequestFault) public() signformstest.Fault {
	return signformstest.Fault{
		Operation: signforms.Operation(f.Operation), DocumentID: f.DocumentID, Nth: f.Nth, Times: f.Times, Probability: f.Probability,
		AfterWork: f.AfterWork, Latency: time.Duration(f.Latency), Reset: f.Reset, Status: f.Status, Body: f.Body,
		ContentType: f.ContentType, RetryAfter: f.RetryAfter, Cut: f.Cut, Drip: time.Duration(f.Drip), Unknown: f.Unknown, WrongTypes: f.WrongTypes,
	}
}

// DeliveryFault is something that goes wrong with webhook attempts; see signformstest.WebhookFault.
type DeliveryFault struct {
	WebhookID   string  `json:"webhookId,omitempty"`
	DocumentID  string  `json:"documentId,omitempty"`
	EventType   string  `json:"eventType,omitempty"`
	Nth         int     `json:"nth,omitempty"`
	Times       int     `json:"times,omitempty"`
	Probability float64 `json:"probability,omitempty"`

	Drop       bool     `json:"drop,omitempty"`
	Delay      Duration `json:"delay,omitempty"`
	Duplicate  bool     `json:"duplicate,omitempty"`
	Secret     string   `json:"secret,omitempty"`
	Shift      Duration `json:"shift,omitempty"`
	OmitHeader string   `json:"omitHeader,omitempty"`
	OmitType   bool     `json:"omitType,omitempty"`
	Type       string   `json:"type,omitempty"`
	Pad        int      `json:"pad,omitempty"`
	Reencode   bool     `json:"reencode,omitempty"`
}

func (f DeliveryFault) public() signformstest.WebhookFault {
	return signformstest.WebhookFault{
		WebhookID: f.WebhookID, DocumentID: f.DocumentID, EventType: f.EventType, Nth: f.Nth, Times: f.Times, Probability: f.Probability,
		Drop: f.Drop, Delay: time.Duration(f.Delay), Duplicate: f.Duplicate, Secret: f.Secret, Shift: time.Duration(f.Shift),
		OmitHeader: f.OmitHeader, OmitType: f.OmitType, Type: f.Type, Pad: f.Pad, Reencode: f.Reencode,
	}
}

func requestFault(f signformstest.Fault) *RequestFault {
	return &RequestFault{
		Operation: string(f.Operation), DocumentID: f.DocumentID, Nth: f.Nth, Times: f.Times, Probability: f.Probability,
		AfterWork: f.AfterWork, Latency: Duration(f.Latency), Reset: f.Reset, Status: f.Status, Body: f.Body,
		ContentType: f.ContentType, RetryAfter: f.RetryAfter, Cut: f.Cut, Drip: Duration(f.Drip), Unknown: f.Unknown, WrongTypes: f.WrongTypes,
	}
}

func deliveryFault(f signformstest.WebhookFault) *DeliveryFault {
	return &DeliveryFault{
		WebhookID: f.WebhookID, DocumentID: f.DocumentID, EventType: f.EventType, Nth: f.Nth, Times: f.Times, Probability: f.Probability,
		Drop: f.Drop, Delay: Duration(f.Delay), Duplicate: f.Duplicate, Secret: f.Secret, Shift: Duration(f.Shift),
		OmitHeader: f.OmitHeader, OmitType: f.OmitType, Type: f.Type, Pad: f.Pad, Reencode: f.Reencode,
	}
}

// ActiveFault is a fault that is in force. One of Request and Delivery is set.
type ActiveFault struct {
	ID       string         `json:"id"`
	Request  *RequestFault  `json:"request,omitempty"`
	Delivery *DeliveryFault `json:"delivery,omitempty"`
	Matched  int            `json:"matched"`  // how many requests or attempts it matched so far
	Happened int            `json:"happened"` // how many of them it changed
}

func activeFault(f signformstest.ActiveFault) ActiveFault {
	out := ActiveFault{ID: f.ID, Matched: f.Matched, Happened: f.Happened}
	if f.Fault != nil {
		out.Request = requestFault(*f.Fault)
	}
	if f.WebhookFault != nil {
		out.Delivery = deliveryFault(*f.WebhookFault)
	}
	return out
}

func (a *API) listFaults(r *http.Request) (any, error) {
	return page(readQuery(r), newest(a.server.Faults()), func(signformstest.ActiveFault) bool { return true }, activeFault)
}

func (a *API) addRequestFault(r *http.Request) (any, error) {
	var in RequestFault
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	what := in
	what.Operation, what.DocumentID, what.Nth, what.Times, what.Probability = "", "", 0, 0, 0
	if what == (RequestFault{}) {
		return nil, inputError(`the fault does nothing: say what goes wrong, as in {"status":503}`)
	}
	return madeID(a.server.CreateFault(in.public()))
}

func (a *API) addDeliveryFault(r *http.Request) (any, error) {
	var in DeliveryFault
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	what := in
	what.WebhookID, what.DocumentID, what.EventType, what.Nth, what.Times, what.Probability = "", "", "", 0, 0, 0
	if what == (DeliveryFault{}) {
		return nil, inputError(`the fault does nothing: say what goes wrong, as in {"drop":true}`)
	}
	return madeID(a.server.CreateWebhookFault(in.public()))
}

func (a *API) clearFaults(*http.Request) (any, error) {
	a.server.ClearFaults()
	return nil, nil
}

func (a *API) removeFault(r *http.Request) (any, error) {
	return nil, a.server.RemoveFault(r.PathValue("id"))
}
