package bench_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-github/v75/github"
	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85"
	stripehook "github.com/stripe/stripe-go/v85/webhook"

	"github.com/signforms/signforms-go/webhook"
)

// row is one way to receive deliveries, as the documentation of its library says.
type row struct {
	name string // row/library
	// wrap puts the payload into the envelope of the library's own service; nil if the library takes any bytes.
	wrap func(payload []byte) []byte
	sign func(body []byte, at time.Time) http.Header
	// receive returns a function that processes a delivery. It returns how many events it decoded into records.
	receive func() func(*delivery) (events int, err error)
}

func rows() []row {
	return []row{
		{"verify/library=signforms", nil, ourSign, ourVerify},
		{"verify/library=byhand", nil, ourSign, handVerify},
		{"verify/library=stripe", nil, stripeSign, stripeVerify},
		{"verify/library=go-github", nil, githubSign, githubVerify},
		{"decode/library=signforms", nil, ourSign, ourDecode},
		{"decode/library=byhand", nil, ourSign, handDecode},
		{"decode/library=stripe", stripeEvent, stripeSign, stripeDecode},
		{"handler/library=signforms", nil, ourSign, ourHandler(&webhook.HandlerOptions{DisableReplayProtection: true})},
		{"handler/library=signforms-replay", nil, ourSign, ourReplay},
		{"handler/library=byhand", nil, ourSign, handHandler},
	}
}

func BenchmarkReceive(b *testing.B) {
	for _, r := range rows() {
		for _, p := range payloads() {
			b.Run(r.name+"/size="+p.size, func(b *testing.B) {
				all, receive := deliveries(p, r), r.receive()
				b.SetBytes(int64(len(all[0].body)))
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if _, err := receive(all[i%len(all)]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// Before a row is timed it has to do its work: take what is genuine, and refuse it with one letter changed.
func TestRowsAcceptOnlyGenuineDeliveries(t *testing.T) {
	for _, p := range payloads() {
		for _, r := range rows() {
			all, receive := deliveries(p, r), r.receive()
			for _, d := range all[:2] {
				events, err := receive(d)
				require.NoError(t, err, r.name)
				require.Contains(t, []int{0, p.events}, events, r.name)
			}
			tampered := all[2]
			i := bytes.Index(tampered.body, []byte("example.com"))
			require.Positive(t, i)
			tampered.body[i] = 'E'
			events, err := receive(tampered)
			require.Error(t, err, r.name)
			require.Zero(t, events, r.name)
		}
	}
}

func ourSign(body []byte, at time.Time) http.Header { return webhook.Sign(secret, at, body) }

func ourVerifier() *webhook.Verifier {
	v, err := webhook.NewVerifier([]string{secret}, nil)
	if err != nil {
		panic(err)
	}
	return v
}

func ourVerify() func(*delivery) (int, error) {
	v := ourVerifier()
	return func(d *delivery) (int, error) {
		_, err := v.Verify(d.request.Header, d.body)
		return 0, err
	}
}

func ourDecode() func(*delivery) (int, error) {
	v := ourVerifier()
	return func(d *delivery) (int, error) {
		events, err := v.Events(d.request.Header, d.body)
		return len(events), err
	}
}

func ourHandler(opts *webhook.HandlerOptions) func() func(*delivery) (int, error) {
	return func() func(*delivery) (int, error) {
		events := 0
		return serving(webhook.NewHandler(ourVerifier(), webhook.Funcs{Default: func(context.Context, webhook.Event) error {
			events++
			return nil
		}}, opts), &events)
	}
}

// ourReplay has a replay store. Between two uses of a delivery more than a day passes for it, so that all are new to it.
func ourReplay() func(*delivery) (int, error) {
	now := time.Now()
	store := webhook.NewMemoryReplayStore(&webhook.MemoryReplayOptions{Now: func() time.Time { return now }})
	receive := ourHandler(&webhook.HandlerOptions{ReplayStore: store})()
	return func(d *delivery) (int, error) {
		now = now.Add(time.Hour)
		return receive(d)
	}
}

// serving makes a receiver of a handler whose functions count events.
func serving(h http.Handler, events *int) func(*delivery) (int, error) {
	w := &discard{header: http.Header{}}
	return func(d *delivery) (int, error) {
		clear(w.header)
		w.status, *events = http.StatusOK, 0
		h.ServeHTTP(w, d.unread())
		if w.status != http.StatusOK {
			return *events, fmt.Errorf("answered %d", w.status)
		}
		return *events, nil
	}
}

func stripeSign(body []byte, at time.Time) http.Header {
	signed := stripehook.GenerateTestSignedPayload(
		&stripehook.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at})
	return http.Header{"Stripe-Signature": {signed.Header}}
}

func stripeVerify() func(*delivery) (int, error) {
	return func(d *delivery) (int, error) {
		return 0, stripehook.ValidatePayload(d.body, d.request.Header.Get("Stripe-Signature"), secret)
	}
}

// stripeEvent returns the smallest event that ConstructEvent accepts.
func stripeEvent(payload []byte) []byte {
	return fmt.Appendf(nil, `{"id":"evt_1","object":"event","api_version":%q,"created":1795176000,`+
		`"type":"charge.succeeded","data":{"object":{"events":%s}}}`, stripe.APIVersion, payload)
}

func stripeDecode() func(*delivery) (int, error) {
	return func(d *delivery) (int, error) {
		event, err := stripehook.ConstructEvent(d.body, d.request.Header.Get("Stripe-Signature"), secret)
		if err != nil {
			return 0, err
		}
		events, _ := event.Data.Object["events"].([]any)
		return len(events), nil
	}
}

func githubSign(body []byte, _ time.Time) http.Header {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return http.Header{"X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac.Sum(nil))}}
}

func githubVerify() func(*delivery) (int, error) {
	return func(d *delivery) (int, error) {
		return 0, github.ValidateSignature(d.request.Header.Get("X-Hub-Signature-256"), d.body, []byte(secret))
	}
}
