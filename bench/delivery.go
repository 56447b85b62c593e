package bench

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Delivery is one signed body, as bytes and as a request.
type Delivery struct {
	Body    []byte
	Header  http.Header
	request *http.Request
	reader  *bytes.Reader
	body    io.ReadCloser
}

func newDelivery(body []byte, header http.Header) *Delivery {
	header.Set("Content-Type", "application/json")
	d := &Delivery{Body: body, Header: header, reader: bytes.NewReader(body)}
	d.body = io.NopCloser(d.reader)
	d.request = &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: "/webhook"}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, ContentLength: int64(len(body)), Host: "receiver.example.com",
	}
	return d
}

// Request returns the delivery as a request whose body is unread. It returns the same request each time, so that the measurement
// itself allocates nothing.
func (d *Delivery) Request() *http.Request {
	d.reader.Reset(d.Body)
	d.request.Body = d.body
	return d.request
}

// Sender makes deliveries of one payload for one row.
type Sender struct {
	row     Row
	payload []byte
	ids     []int
	next    uint64
	at      time.Time
}

// NewSender returns a sender whose deliveries have the timestamp of now.
func NewSender(row Row, p Payload) *Sender {
	payload := p.JSON
	if row.Wrap != nil {
		payload = row.Wrap(payload)
	}
	return &Sender{row: row, payload: payload, ids: ids(payload), at: time.Now()}
}

// Size is the number of bytes of each delivery's body.
func (s *Sender) Size() int { return len(s.payload) }

// Send returns n deliveries. Every event in them is new.
func (s *Sender) Send(n int) []*Delivery {
	ds := make([]*Delivery, n)
	for i := range ds {
		body := bytes.Clone(s.payload)
		s.next = renumber(body, s.ids, s.next)
		ds[i] = newDelivery(body, s.row.Sign(body, s.at))
	}
	return ds
}

// discard is an http.ResponseWriter that keeps only the status. Like the writer of net/http's server it has a Flush.
type discard struct {
	header http.Header
	status int
}

func (w *discard) Header() http.Header  { return w.header }
func (w *discard) WriteHeader(code int) { w.status = code }
func (w *discard) Flush()               {}

func (w *discard) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return len(b), nil
}

func (w *discard) WriteString(s string) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return len(s), nil
}

func (w *discard) reset() {
	clear(w.header)
	w.status = 0
}
