package refserver

import (
	"bytes"
	"slices"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Counts says how many records of the server's workspace there are, and how many deliveries of each status. It is known without
// counting.
type Counts struct {
	Templates     int
	Forms         int
	Webhooks      int
	Documents     int // PDF documents
	FromTemplates int // documents made from templates
	Deliveries    map[DeliveryStatus]int
}

// Undelivered returns how many deliveries have not ended: they wait for an attempt, or are under way.
func (c Counts) Undelivered() int {
	return c.Deliveries[DeliveryPending] + c.Deliveries[DeliverySending]
}

// Counts returns the numbers of records at one moment.
func (s *Server) Counts() Counts {
	c := Counts{Deliveries: map[DeliveryStatus]int{}}
	q := store.Query{}
	s.store.View(func(tx *store.Tx) error {
		_, c.Templates = tx.Templates(q)()
		_, c.Documents = tx.Documents(q)()
		_, c.FromTemplates = tx.FromTemplates(q)()
		c.Forms = tx.CountForms()
		c.Webhooks = len(tx.Webhooks())
		for _, status := range DeliveryStatuses() {
			c.Deliveries[status] = tx.CountDeliveries(store.DeliveryStatus(status))
		}
		return nil
	})
	return c
}

// DeliveryFilter selects deliveries. Zero fields select everything.
type DeliveryFilter struct {
	WebhookID string
	Status    DeliveryStatus
	EventType string    // of one of its events
	About     string    // part of the body
	Since     time.Time // created then or later
	Offset    int       // how many to skip
	Limit     int       // how many to return at most; 0: 100
}

// FindDeliveries returns the deliveries that match, newest first, and how many match in all. See [Server.Deliveries].
func (s *Server) FindDeliveries(f DeliveryFilter) (page []Delivery, total int) {
	var match func(*store.Delivery) bool
	if f != (DeliveryFilter{Offset: f.Offset, Limit: f.Limit}) {
		match = func(d *store.Delivery) bool {
			return (f.WebhookID == "" || d.WebhookID == f.WebhookID) && (f.Status == "" || string(d.Status) == string(f.Status)) &&
				(f.EventType == "" || slices.ContainsFunc(d.Events, func(e signing.Event) bool { return string(e.Type) == f.EventType })) &&
				!d.CreatedAt.Before(f.Since) && bytes.Contains(d.Body, []byte(f.About))
		}
	}
	return newestOf(s.deliveries(), f.Offset, f.Limit, match, publicDelivery)
}

// newestOf returns the page of the records that match, converted. A nil match selects all of them, a limit of 0 means 100.
func newestOf[From, To any](all store.Records[From], offset, limit int, match func(*From) bool, convert func(From) To) (page []To, total int) {
	if limit <= 0 {
		limit = 100
	}
	found, total := all.Newest(max(offset, 0), limit, match)
	for _, v := range found {
		page = append(page, convert(*v))
	}
	return page, total
}

// MessageFilter selects mail. Zero fields select everything.
type MessageFilter struct {
	DocumentID string // the document, or the form
	To         string
	Kind       string    // "invitation", "reminder" or "notice"
	Since      time.Time // sent then or later
	Offset     int       // how many to skip
	Limit      int       // how many to return at most; 0: 100
}

// FindMessages returns the mail that matches, newest first, and how much matches in all. See [Server.Messages].
func (s *Server) FindMessages(f MessageFilter) (page []Message, total int) {
	var match func(*signing.Message) bool
	if f.DocumentID != "" && f.To != "" || f.Kind != "" || !f.Since.IsZero() {
		match = func(m *signing.Message) bool {
			return (f.To == "" || m.To == f.To) && (f.Kind == "" || string(m.Kind) == f.Kind) && !m.At.Before(f.Since)
		}
	}
	return newestOf(s.messages(f.DocumentID, f.To), f.Offset, f.Limit, match, s.publicMessage)
}

// RequestFilter selects API requests. Zero fields select everything.
type RequestFilter struct {
	ID         int64 // 0: any
	Operation  Operation
	StatusCode int       // of the answer
	Misses     bool      // only those that were refused, or that have Notes
	Refused    bool      // only those that were refused
	Ignored    bool      // only those that have Notes
	Since      time.Time // arrived then or later
	Offset     int       // how many to skip
	Limit      int       // how many to return at most; 0: 100
}

// FindRequests returns the API requests that match, newest first, and how many match in all. See [Server.Requests].
func (s *Server) FindRequests(f RequestFilter) (page []Request, total int) {
	var match func(*api.Record) bool
	if f != (RequestFilter{Offset: f.Offset, Limit: f.Limit}) {
		match = func(r *api.Record) bool {
			return (f.ID == 0 || r.ID == f.ID) && (f.Operation == "" || string(r.Operation) == string(f.Operation)) && (f.StatusCode == 0 || r.Status == f.StatusCode) &&
				(!f.Misses || r.Rule != "" || len(r.Notes) > 0) &&
				(!f.Refused || r.Rule != "") && (!f.Ignored || len(r.Notes) > 0) && !r.At.Before(f.Since)
		}
	}
	return newestOf(s.requests.records(), f.Offset, f.Limit, match, publicRequest)
}
