package bench

import (
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v85"
	stripehook "github.com/stripe/stripe-go/v85/webhook"
)

func stripeRows() []Row {
	verify := Work{Clock: "too old only", Decode: DecodesNot, Copies: "–", Repeat: "–"}
	decode := Work{Clock: "too old only", Decode: DecodesGeneric, Copies: "raw data of the event", Repeat: "–"}
	return []Row{
		{Name: "stripe-go ValidatePayload", Kind: KindVerify, Work: verify, Sign: stripeSign, New: func() Receiver {
			return func(d *Delivery) (int, error) {
				return 0, stripehook.ValidatePayload(d.Body, d.Header.Get("Stripe-Signature"), Secret)
			}
		}},
		{Name: "stripe-go ConstructEvent", Kind: KindDecode, Work: decode, Wrap: stripeEvent, Sign: stripeSign, New: func() Receiver {
			return func(d *Delivery) (int, error) {
				event, err := stripehook.ConstructEvent(d.Body, d.Header.Get("Stripe-Signature"), Secret)
				if err != nil {
					return 0, err
				}
				events, _ := event.Data.Object["events"].([]any)
				return len(events), nil
			}
		}},
	}
}

// stripeEvent returns the smallest event that ConstructEvent accepts, with the payload as the event's object.
func stripeEvent(payload []byte) []byte {
	return envelope(`{"id":"evt_1","object":"event","api_version":"`+stripe.APIVersion+`","created":1795176000,"type":"charge.succeeded","data":{"object":{"events":`, payload, `}}}`)
}

func envelope(before string, payload []byte, after string) []byte {
	body := make([]byte, 0, len(before)+len(payload)+len(after))
	return append(append(append(body, before...), payload...), after...)
}

func stripeSign(body []byte, at time.Time) http.Header {
	signed := stripehook.GenerateTestSignedPayload(&stripehook.UnsignedPayload{Payload: body, Secret: Secret, Timestamp: at})
	return http.Header{"Stripe-Signature": {signed.Header}}
}
