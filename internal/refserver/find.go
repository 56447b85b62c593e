package refserver

import (
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Counts has the numbers of records in the server's workspace, and the number of deliveries with
// each status. The server keeps these numbers up to date, so reading them is fast.
type Counts struct {
	Templates     int
	Forms         int
	Webhooks      int
	Documents     int // PDF documents
	FromTemplates int // documents made from templates
	Deliveries    map[DeliveryStatus]int
}

// Undelivered returns how many deliveries have not ended: they wait for an attempt, or are being
// sent.
func (c Counts) Undelivered() int {
	return c.Deliveries[DeliveryPending] + c.Deliveries[DeliverySending]
}

// Counts returns the numbers of records at the same moment.
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
			c.Deliveries[status] = tx.CountDeliveries(status)
		}
		return nil
	})
	return c
}

// FindDeliveries returns a page of matching deliveries, newest first, and the number of all
// matching deliveries. A nil match selects all deliveries.
func (s *Server) FindDeliveries(match func(Delivery) bool, offset, limit int) (page []Delivery, total int) {
	return newestOf(s.deliveries(), match, offset, limit, publicDelivery, publicDelivery)
}

// FindMessages returns a page of the matching messages, as FindDeliveries does for deliveries. It
// calls match with messages without their Link.
func (s *Server) FindMessages(match func(Message) bool, offset, limit int) (page []Message, total int) {
	return newestOf(s.messages(), match, offset, limit,
		func(m signing.Message) Message { return publicMessage(m, "") }, s.publicMessage)
}

// FindRequests returns a page of the matching API requests, as FindDeliveries does for deliveries.
func (s *Server) FindRequests(match func(Request) bool, offset, limit int) (page []Request, total int) {
	same := func(r Request) Request { return r }
	return newestOf(s.requests.records(), match, offset, limit, same, same)
}

// newestOf converts a page of the matching records. It calls match with the results of forMatch, which
// can leave out what takes time. Without a match, it reads only the records that it skips or returns.
func newestOf[From, To any](all store.Records[From], match func(To) bool, offset, limit int, forMatch, convert func(From) To) (page []To, total int) {
	for v := range all.Newest() {
		if match == nil && len(page) == limit {
			return page, all.Len()
		}
		if match != nil && !match(forMatch(*v)) {
			continue
		}
		if total >= offset && len(page) < limit {
			page = append(page, convert(*v))
		}
		total++
	}
	return page, total
}
