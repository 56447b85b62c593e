package bench

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// storeFills is how many events a receiver with the default replay store gets. It is half of what the store can hold, so that the
// store is neither empty nor full of events that are too new to be forgotten.
const storeFills = 50_000

func signformsRows() []Row {
	verify := Work{Clock: "both ways", Decode: DecodesNot, Copies: "–", Repeat: "–"}
	decode := Work{Clock: "both ways", Decode: DecodesTyped, Copies: "one, for all events", Repeat: "–"}
	remember := decode
	remember.Repeat = "each event by its SHA-256"
	passOn := verify
	passOn.Copies = "one, for the next handler"
	passOnDecoded := decode
	passOnDecoded.Copies = "one for the next handler, one for all events"
	rows := []Row{
		{Name: "signforms Verify", Kind: KindVerify, Work: verify, New: ourVerify},
		{Name: "signforms Verify + Parse", Kind: KindDecode, Work: decode, New: ourParse},
		{Name: "signforms Middleware", Kind: KindMiddleware, Work: passOn, New: ourMiddleware},
		{Name: "signforms Handler, AllowRepeats", Kind: KindHandler, Work: decode, New: ourHandler(&webhook.HandlerOptions{AllowRepeats: true})},
		{Name: "signforms Handler", Kind: KindHandler, Work: remember, Forgets: storeFills, New: ourHandler(nil)},
		{Name: "signforms Middleware + EventsFrom", Kind: KindHandler, Work: passOnDecoded, New: ourEventsFrom},
	}
	for i := range rows {
		rows[i].Ours, rows[i].Sign = true, ourSign
	}
	return rows
}

func ourSign(body []byte, at time.Time) http.Header { return webhook.Sign(Secret, at, body) }

func ourVerifier() *webhook.Verifier {
	v, err := webhook.NewVerifier([]string{Secret}, nil)
	if err != nil {
		panic(err)
	}
	return v
}

func ourVerify() Receiver {
	v := ourVerifier()
	return func(d *Delivery) (int, error) {
		_, err := v.Verify(d.Header, d.Body)
		return 0, err
	}
}

func ourParse() Receiver {
	v := ourVerifier()
	return func(d *Delivery) (int, error) {
		verified, err := v.Verify(d.Header, d.Body)
		if err != nil {
			return 0, err
		}
		events, err := webhook.Parse(verified.Payload)
		return len(events), err
	}
}

func ourMiddleware() Receiver {
	decoded := 0
	return serving(ourVerifier().Middleware(nil)(http.HandlerFunc(readAndAnswer)), &decoded)
}

// readAndAnswer is the handler behind a middleware. It reads the body and answers.
func readAndAnswer(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	writeOK(w)
}

func writeOK(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	io.WriteString(w, `{"status":"ok"}`)
}

func ourHandler(opts *webhook.HandlerOptions) func() Receiver {
	return func() Receiver {
		decoded := 0
		h := webhook.NewHandler(ourVerifier(), webhook.Funcs{Other: func(context.Context, webhook.Event) error {
			decoded++
			return nil
		}}, opts)
		return serving(h, &decoded)
	}
}

func ourEventsFrom() Receiver {
	decoded := 0
	return serving(ourVerifier().Middleware(nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		events, err := webhook.EventsFrom(r.Context())
		if err != nil {
			http.Error(w, "undecodable", http.StatusBadRequest)
			return
		}
		decoded += len(events)
		writeOK(w)
	})), &decoded)
}
