package bench_test

import (
	"bytes"
	"embed"
	"io"
	"net/http"
	"net/http/httptest"
	"time"
)

const secret = "5b0c4f6ad2b94e0f8c3d1a7e9f2b6c80"

//go:embed payloads
var files embed.FS

// read returns a payload, as JSON.stringify formats it.
func read(name string) []byte {
	text, err := files.ReadFile("payloads/" + name + ".json")
	if err != nil {
		panic(err)
	}
	return text
}

// payload is a body that the service could send.
type payload struct {
	size   string
	json   []byte
	events int
}

// payloads are a completed event with four signers, a batch of events of all types, and a form with 385 answers.
func payloads() []payload {
	all := []payload{{size: "1KB", json: read("event")}, {size: "20KB", json: read("batch")}, {size: "50KB", json: read("form")}}
	for i, p := range all {
		all[i].events = bytes.Count(p.json, []byte(`"webhookEvent":`))
	}
	return all
}

// delivery is one signed body, and a request for it that is used again, so that a benchmark allocates nothing itself.
type delivery struct {
	body     []byte
	request  *http.Request
	reader   *bytes.Reader
	unclosed io.ReadCloser // of reader
}

// deliveries returns 64 deliveries with ids of their own, signed in the scheme of a library.
func deliveries(p payload, r row) []*delivery {
	all := make([]*delivery, 64)
	next := uint64(0)
	for i := range all {
		body := bytes.Clone(p.json)
		next = renumber(body, next)
		if r.wrap != nil {
			body = r.wrap(body)
		}
		d := &delivery{body: body, reader: bytes.NewReader(body)}
		d.unclosed = io.NopCloser(d.reader)
		d.request = httptest.NewRequest(http.MethodPost, "/webhook", d.reader)
		d.request.Header = r.sign(body, time.Now())
		d.request.Header.Set("Content-Type", "application/json")
		all[i] = d
	}
	return all
}

// unread returns the request as if nobody had read its body.
func (d *delivery) unread() *http.Request {
	d.reader.Reset(d.body)
	d.request.Body = d.unclosed
	return d.request
}

// renumber writes the numbers after n into the last twelve digits of ids, so that each event is new. It returns the last.
func renumber(text []byte, n uint64) uint64 {
	const uuid, digits = 36, 12
	for _, key := range []string{`"documentId":"`, `"formResponseId":"`} {
		for from := 0; ; {
			at := bytes.Index(text[from:], []byte(key))
			if at < 0 {
				break
			}
			from += at + len(key) + uuid
			n++
			for i, rest := from-1, n; i >= from-digits; i, rest = i-1, rest>>4 {
				text[i] = "0123456789abcdef"[rest&0xf]
			}
		}
	}
	return n
}

// discard is a writer that keeps the status alone.
type discard struct {
	header http.Header
	status int
}

func (w *discard) Header() http.Header         { return w.header }
func (w *discard) WriteHeader(status int)      { w.status = status }
func (w *discard) Write(b []byte) (int, error) { return len(b), nil }

// WriteString implements io.StringWriter, as the server's writer does.
func (w *discard) WriteString(s string) (int, error) { return len(s), nil }
