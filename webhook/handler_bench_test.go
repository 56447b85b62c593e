package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// BenchmarkVerify and BenchmarkHandler stand beside an HMAC over the same bytes with a keyed hash that is used again.
// What counts is the ratio of two lines of one run.
func BenchmarkVerify(b *testing.B) {
	for _, p := range benchPayloads() {
		b.Run(p.name+"/hmac", func(b *testing.B) { benchmarkHMAC(b, p.body) })
		b.Run(p.name+"/verify", func(b *testing.B) {
			v, header := benchVerifier(b), webhook.Sign(secret, time.Now(), p.body)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(header, p.body); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(p.name+"/verify+decode", func(b *testing.B) {
			v, header := benchVerifier(b), webhook.Sign(secret, time.Now(), p.body)
			b.ReportAllocs()
			for b.Loop() {
				verified, err := v.Verify(header, p.body)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := webhook.Parse(verified.Payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHandler(b *testing.B) {
	for _, p := range benchPayloads() {
		b.Run(p.name+"/hmac", func(b *testing.B) { benchmarkHMAC(b, p.body) })
		b.Run(p.name+"/handler", func(b *testing.B) {
			benchmarkHandler(b, p, &webhook.HandlerOptions{AllowRepeats: true}, nil)
		})
		b.Run(p.name+"/handler+replay", func(b *testing.B) {
			// Between two uses of an event more than a day passes for the store, so that each is new to it, and it is as
			// full as it gets in a day of so many deliveries.
			var passed time.Duration
			store := webhook.NewMemoryReplayStore(&webhook.MemoryReplayOptions{Now: func() time.Time { return time.Now().Add(passed) }})
			benchmarkHandler(b, p, &webhook.HandlerOptions{ReplayStore: store}, func() { passed += 25 * time.Hour / benchDeliveries })
		})
	}
}

func benchVerifier(b *testing.B) *webhook.Verifier {
	return newVerifier(b, &webhook.VerifierOptions{})
}

func benchmarkHMAC(b *testing.B, body []byte) {
	mac := hmac.New(sha256.New, []byte(secret))
	prefix := []byte("1795176000.")
	var sum [sha256.Size]byte
	b.ReportAllocs()
	for b.Loop() {
		mac.Reset()
		mac.Write(prefix)
		mac.Write(body)
		mac.Sum(sum[:0])
	}
}

const benchDeliveries = 1 << 10

// benchmarkHandler sends deliveries whose events all differ: their ids are written into one body just before each.
func benchmarkHandler(b *testing.B, p benchPayload, opts *webhook.HandlerOptions, next func()) {
	ran := 0
	opts.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	h := webhook.NewHandler(benchVerifier(b), webhook.Funcs{Other: func(context.Context, webhook.Event) error {
		ran++
		return nil
	}}, opts)
	d := newBenchDeliveries(p.body)
	w := &discardWriter{header: http.Header{}}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		r := d.request(i % benchDeliveries)
		clear(w.header)
		h.ServeHTTP(w, r)
		if w.status != http.StatusOK {
			b.Fatalf("status %d", w.status)
		}
		if next != nil {
			next()
		}
		i++
	}
	if ran != i*p.events {
		b.Fatalf("%d functions ran for %d events", ran, i*p.events)
	}
}

// deliveries has one body and the signatures of all its variants.
type deliveries struct {
	body       []byte
	ids        []int // where they are in body
	signatures []string
	reader     bytes.Reader
	closer     io.ReadCloser
	template   *http.Request
}

func newBenchDeliveries(body []byte) *deliveries {
	d := &deliveries{body: bytes.Clone(body)}
	for _, id := range []string{`documentId":"`, `formResponseId":"`} {
		for at := 0; ; {
			i := bytes.Index(body[at:], []byte(id))
			if i < 0 {
				break
			}
			at += i + len(id)
			d.ids = append(d.ids, at)
		}
	}
	now := time.Now()
	for n := range benchDeliveries {
		d.write(n)
		d.signatures = append(d.signatures, webhook.Sign(secret, now, d.body).Get(webhook.SignatureHeader))
	}
	d.closer = io.NopCloser(&d.reader)
	d.template = &http.Request{Method: http.MethodPost, ContentLength: int64(len(body)), Header: webhook.Sign(secret, now, d.body)}
	d.template.Header.Set("Content-Type", "application/json")
	return d
}

func (d *deliveries) write(n int) {
	var id [4]byte
	for i, at := range d.ids {
		number := uint32(n*len(d.ids) + i)
		id = [4]byte{byte(number >> 24), byte(number >> 16), byte(number >> 8), byte(number)}
		hex.Encode(d.body[at:at+8], id[:])
	}
}

func (d *deliveries) request(n int) *http.Request {
	d.write(n)
	d.reader.Reset(d.body)
	d.template.Body = d.closer
	d.template.Header[webhook.SignatureHeader][0] = d.signatures[n]
	return d.template
}

type discardWriter struct {
	header http.Header
	status int
}

func (w *discardWriter) Header() http.Header               { return w.header }
func (w *discardWriter) WriteHeader(status int)            { w.status = status }
func (w *discardWriter) Write(p []byte) (int, error)       { return len(p), nil }
func (w *discardWriter) WriteString(s string) (int, error) { return len(s), nil }
