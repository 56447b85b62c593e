package control

import (
	"net/http"
	"time"

	"github.com/signforms/signforms-go/signformstest"
)

// RequestFault is something that goes wrong with API requests.
type RequestFault struct {
	signformstest.Fault
	Latency Duration `json:"latency,omitempty"`
	Drip    Duration `json:"drip,omitempty"`
}

// DeliveryFault is something that goes wrong with webhook attempts.
type DeliveryFault struct {
	signformstest.WebhookFault
	Delay Duration `json:"delay,omitempty"`
	Shift Duration `json:"shift,omitempty"`
}

// ActiveFault is a fault that is in force. One of Fault and WebhookFault is set.
type ActiveFault struct {
	signformstest.ActiveFault
	Fault        *RequestFault  `json:"request,omitempty"`
	WebhookFault *DeliveryFault `json:"delivery,omitempty"`
	Text         string         `json:"text"` // what it does, in a sentence
}

func activeFault(f signformstest.ActiveFault) ActiveFault {
	out := ActiveFault{ActiveFault: f, Text: f.String()}
	if f := f.Fault; f != nil {
		out.Fault = &RequestFault{*f, Duration(f.Latency), Duration(f.Drip)}
	}
	if f := f.WebhookFault; f != nil {
		out.WebhookFault = &DeliveryFault{*f, Duration(f.Delay), Duration(f.Shift)}
	}
	return out
}

func (a *API) listFaults(r *http.Request) (any, error) {
	return page(readQuery(r), newest(a.server.Faults()), every, activeFault)
}

func (a *API) addRequestFault(_ *http.Request, in RequestFault) (any, error) {
	in.Fault.Latency, in.Fault.Drip = time.Duration(in.Latency), time.Duration(in.Drip)
	return madeID(a.server.TryFail(in.Fault))
}

func (a *API) addDeliveryFault(_ *http.Request, in DeliveryFault) (any, error) {
	in.WebhookFault.Delay, in.WebhookFault.Shift = time.Duration(in.Delay), time.Duration(in.Shift)
	return madeID(a.server.TryFailWebhooks(in.WebhookFault))
}

func (a *API) clearFaults(*http.Request) (any, error) {
	a.server.ClearFaults()
	return nil, nil
}
