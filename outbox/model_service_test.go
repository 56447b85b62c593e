package outbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// modelService is the signing service of the model. It shares no code with the client, has no idempotency keys, and knows
// for which message each document was made.
type modelService struct {
	mu        sync.Mutex
	skew      time.Duration // of its clock
	outages   []outage      // in order and apart from each other
	documents []*modelDocument
	begun     map[string]int // requests that were not executed yet, by the message they were sent for
	mask      string         // how lists show addresses; see masked
	maskedAt  time.Time      // since when
	ownSigner string         // the template's own signer; empty if it has none
	perPage   int
}

// modelDocument is a document of a template.
type modelDocument struct {
	id, template, status string
	sentFor              string // the message that it was sent for; empty: somebody else sent it
	receivers            []modelReceiver
	created              time.Time
	reminders            int
	unsigned             bool // it shows no signers
}

type modelReceiver struct {
	Email string `json:"email"`
	Role  string `json:"roleTitle"`
}

// outage is a time in which the service does not execute requests as it should.
type outage struct {
	from, to  time.Time
	status    int  // of its responses; 0: it is frozen, and responds at the end
	sendsOnly bool // reads are answered
}

// answering is the time after a send's deadline until which it may be executed while the service answers. After a minute
// the promise has a limit.
const answering = 59 * time.Second

// executed returns when a request is executed that arrives now and ends at a deadline. It is late with some probability:
// after an outage, while the box looks for it, or just before the limit.
func (s *modelService) executed(deadline time.Time, p *process) time.Time {
	at := time.Now().Add(p.upTo(500 * time.Millisecond))
	switch {
	case p.chance(0.01):
		at = at.Add(p.upTo(10 * time.Minute))
	case p.chance(0.01):
		at = s.answered(deadline, p.upTo(answering))
	}
	if o := s.outage(at); o != nil && o.status == 0 {
		at = o.to.Add(p.upTo(time.Minute))
		if p.random.IntN(2) == 0 {
			at = s.answered(deadline, p.upTo(answering))
		}
	}
	if last := s.answered(deadline, answering); at.After(last) {
		at = last
	}
	if now := time.Now(); at.Before(now) {
		at = now
	}
	return at
}

// answered returns when the service will have answered reads for a time since from.
func (s *modelService) answered(from time.Time, long time.Duration) time.Time {
	for _, o := range s.outages {
		if o.sendsOnly || !o.to.After(from) {
			continue
		}
		up := max(0, o.from.Sub(from))
		if up > long {
			break
		}
		long, from = long-up, o.to
	}
	return from.Add(long)
}

func (s *modelService) outage(at time.Time) *outage {
	for i, o := range s.outages {
		if !at.Before(o.from) && at.Before(o.to) {
			return &s.outages[i]
		}
	}
	return nil
}

// handle responds to a request that has arrived. An error is the end of the request's context.
func (s *modelService) handle(r *http.Request, body []byte, p *process) (*http.Response, error) {
	ctx, send := r.Context(), strings.HasSuffix(r.URL.Path, "/pdf-template-lambda")
	var made chan *modelDocument
	o := s.outage(time.Now())
	if o != nil && o.sendsOnly && !send {
		o = nil
	}
	if send && (o == nil && !p.chance(0.003) || o != nil && o.status == 0 || o != nil && o.status == 503 && p.random.IntN(3) == 0) {
		deadline, _ := ctx.Deadline()
		made = s.begin(body, s.executed(deadline, p))
	}
	if o != nil && o.status == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Until(o.to)):
		}
	}
	switch {
	case o != nil && o.status == 403:
		return s.respond(r, 403, "<html>blocked</html>"), nil
	case o != nil && o.status != 0:
		return s.respond(r, o.status, map[string]any{"message": "try again"}), nil
	case send && made == nil:
		return s.respond(r, 422, map[string]any{"message": "a role is missing"}), nil
	case send:
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case d := <-made:
			return s.respond(r, 200, map[string]any{"message": "Document sent", "templateId": d.template, "createdDocumentId": d.id,
				"createdDocumentStatus": "PENDING", "signers": s.signers(d, false)}), nil
		}
	case r.Method == http.MethodGet:
		return s.respond(r, 200, s.list(r)), nil
	}
	return s.act(r), nil
}

// begin takes a send, which is executed later.
func (s *modelService) begin(body []byte, at time.Time) chan *modelDocument {
	var in struct {
		Template  string          `json:"documentId"`
		Receivers []modelReceiver `json:"receiversList"`
		Mail      struct {
			Subject string `json:"subject"`
		} `json:"mailData"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun[in.Mail.Subject]++
	made := make(chan *modelDocument, 1)
	go func() {
		time.Sleep(time.Until(at))
		made <- s.make(in.Template, in.Mail.Subject, in.Receivers)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.begun[in.Mail.Subject]--
	}()
	return made
}

// make makes a document, for a message or for somebody else.
func (s *modelService) make(template, sentFor string, receivers []modelReceiver) *modelDocument {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &modelDocument{id: fmt.Sprintf("%024x", 7919*(len(s.documents)+1)), template: template, status: "PENDING", sentFor: sentFor,
		receivers: receivers, created: time.Now().Add(s.skew)}
	s.documents = append(s.documents, d)
	return d
}

// masked returns an address as lists show it: in full, or masked in a way that MayMatch sees, or in one that it does not.
func (s *modelService) masked(address string) string {
	if s.mask == "" || time.Now().Before(s.maskedAt) {
		return address
	}
	return address[:1] + s.mask + address[strings.Index(address, "@"):]
}

func (s *modelService) signers(d *modelDocument, list bool) (all []map[string]any) {
	if d.unsigned {
		return nil
	}
	receivers := d.receivers
	if s.ownSigner != "" {
		receivers = append([]modelReceiver{{s.ownSigner, "Seller"}}, receivers...)
	}
	for i, r := range receivers {
		address := r.Email
		if list {
			address = s.masked(r.Email)
		}
		all = append(all, map[string]any{"signerId": fmt.Sprintf("%s-%d", d.id, i), "email": address, "roleTitle": r.Role, "status": "PENDING"})
	}
	return all
}

func (s *modelService) list(r *http.Request) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*modelDocument
	query := r.URL.Query()
	for _, d := range s.documents {
		if d.template == query.Get("templateId") || d.id == query.Get("respondentDocumentId") {
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b *modelDocument) int { return b.created.Compare(a.created) })
	page, _ := strconv.Atoi(cmp.Or(query.Get("page"), "1"))
	limit, _ := strconv.Atoi(cmp.Or(query.Get("limit"), "10"))
	limit = min(limit, s.perPage)
	from := min((page-1)*limit, len(found))
	records := []any{}
	for _, d := range found[from:min(from+limit, len(found))] {
		records = append(records, map[string]any{"respondentDocumentId": d.id, "templateId": d.template, "status": d.status,
			"createdAt": d.created.UTC().Format("2006-01-02T15:04:05.000Z"), "signers": s.signers(d, true)})
	}
	return map[string]any{"respondents": records, "pagination": map[string]any{"currentPage": page,
		"totalPages": (len(found) + limit - 1) / limit, "totalDocuments": len(found)}}
}

// act voids or reminds.
func (s *modelService) act(r *http.Request) *http.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.documents {
		if d.id != r.URL.Query().Get("responseId") {
			continue
		}
		switch void := strings.HasSuffix(r.URL.Path, "/void-document"); {
		case void && (d.status == "PENDING" || d.status == "VOID"):
			d.status = "VOID"
		case void || d.status != "PENDING":
			return s.respond(r, 400, map[string]any{"message": "the document is " + d.status})
		default:
			d.reminders++
		}
		return s.respond(r, 200, map[string]any{"message": "done", "documentId": d.template, "status": d.status})
	}
	return s.respond(r, 404, map[string]any{"message": "No such document", "code": "not_found"})
}

func (s *modelService) respond(r *http.Request, status int, body any) *http.Response {
	text, isText := body.(string)
	if !isText {
		encoded, err := json.Marshal(body)
		if err != nil {
			panic(err)
		}
		text = string(encoded)
	}
	h := http.Header{"Date": {time.Now().Add(s.skew).UTC().Format(http.TimeFormat)}, "Content-Type": {"application/json"}}
	if status == 429 {
		h.Set("Retry-After", "90")
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(bytes.NewBufferString(text)), ContentLength: int64(len(text)), Request: r}
}

// sign ends one of the documents that messages were sent as, if there is one.
func (s *modelService) sign(random *rand.Rand) *modelDocument {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range random.Perm(len(s.documents)) {
		if d := s.documents[i]; d.status == "PENDING" && d.sentFor != "" {
			d.status = pick(random, "SIGNED", "DECLINED")
			return d
		}
	}
	return nil
}

// sentFor returns the documents that were made for a message, and whether more may come.
func (s *modelService) sentFor(message string) (documents []*modelDocument, begun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.documents {
		if d.sentFor == message {
			documents = append(documents, d)
		}
	}
	return documents, s.begun[message] > 0
}

var errLost = errors.New("the connection is lost")
