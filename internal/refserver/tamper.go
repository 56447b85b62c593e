package refserver

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
)

func (f WebhookFault) matches(a *delivery.Request) bool {
	return (f.WebhookID == "" || f.WebhookID == a.Webhook.ID) &&
		slices.ContainsFunc(a.Delivery.Events, func(e signing.Event) bool {
			return (f.EventType == "" || f.EventType == string(e.Type)) && (f.DocumentID == "" || about(e, f.DocumentID))
		})
}

func about(e signing.Event, id string) bool {
	return e.SourceID == id || e.Document != nil && e.Document.ID == id || e.Response != nil && (e.Response.ID == id || e.Response.ObjectID == id)
}

// tamper changes the request of an attempt as its fault requires.
func (s *Server) tamper(a *delivery.Request) {
	f, ok := s.faults.webhook(a, s.Now())
	if !ok {
		return
	}
	a.Drop, a.Delay, a.Duplicate = f.Drop, f.Delay, f.Duplicate
	if f.Secret != "" {
		a.Webhook.Secret = f.Secret
	}
	if f.Shift != 0 {
		a.Timestamp = s.options.Profile.Timestamps.Format(s.stampClock().Add(f.Shift))
	}
	a.Body = delivery.Edit(a.Body, delivery.Changes{OmitType: f.OmitType, Type: f.Type})
	a.Seal()
	if f.Reencode {
		a.Body = reencode(a.Body)
	}
}

// reencode indents JSON and escapes it for HTML, as Go's encoder and many proxies do.
func reencode(body []byte) []byte {
	var escaped, out bytes.Buffer
	json.HTMLEscape(&escaped, body)
	if err := json.Indent(&out, escaped.Bytes(), "", "  "); err != nil {
		panic(err) // cannot fail: the JSON is our own
	}
	return out.Bytes()
}
