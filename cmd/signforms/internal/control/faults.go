package control

import (
	"net/http"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

func activeFault(f refserver.ActiveFault) wire.ActiveFault {
	out := wire.ActiveFault{ActiveFault: f}
	if f := f.Fault; f != nil {
		out.Fault = &wire.RequestFault{Fault: *f, Latency: wire.Duration(f.Latency)}
		if f.RetryAfter != "" {
			out.Fault.RetryAfter = &f.RetryAfter
		}
	}
	if f := f.WebhookFault; f != nil {
		out.WebhookFault = &wire.DeliveryFault{WebhookFault: *f, Delay: wire.Duration(f.Delay), Shift: wire.Duration(f.Shift)}
	}
	return out
}

func (a *API) listFaults(r *http.Request) (any, error) {
	return page(readQuery(r), newest(a.server.Faults()), every, activeFault)
}

func (a *API) addRequestFault(_ *http.Request, in wire.RequestFault) (any, error) {
	in.Fault.Latency = time.Duration(in.Latency)
	switch {
	case in.RetryAfter != nil:
		in.Fault.RetryAfter = *in.RetryAfter
	case in.Status == http.StatusTooManyRequests:
		in.Fault.RetryAfter = "60"
	}
	return madeID(a.server.Fail(in.Fault))
}

func (a *API) addDeliveryFault(_ *http.Request, in wire.DeliveryFault) (any, error) {
	in.WebhookFault.Delay, in.WebhookFault.Shift = time.Duration(in.Delay), time.Duration(in.Shift)
	return madeID(a.server.FailWebhooks(in.WebhookFault))
}

func (a *API) clearFaults(*http.Request) (any, error) {
	a.server.ClearFaults()
	return nil, nil
}
