package endtoend_test

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/webhook"
)

var (
	kills   = flag.Int("kills", 4, "how often the program is killed under load, at least")
	changes = flag.Int("changes", 500, "how many changes are acknowledged before the last kill, at least")
)

// ledger is what the program acknowledged over all its lives.
type ledger struct {
	mu        sync.Mutex
	sent      map[string]bool // documents by id
	signed    map[string]bool // those of them whose signature was acknowledged
	reminders int
}

func (l *ledger) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sent) + len(l.signed) + l.reminders
}

// waitFor returns when so many changes were acknowledged in all.
func (l *ledger) waitFor(n int) {
	for l.acknowledged() < n {
		time.Sleep(time.Millisecond)
	}
}

func (l *ledger) note(set map[string]bool, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	set[id] = true
}

// inbox is a receiver of webhooks that outlives the program.
type inbox struct {
	mu        sync.Mutex
	completed map[string]int // completed events by document
	bodies    map[string]int // requests by body
	refused   []string
}

func (in *inbox) handler(verifier *webhook.Verifier) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the program was killed while it sent
		}
		events, err := verifier.Events(r.Header, body)
		in.mu.Lock()
		defer in.mu.Unlock()
		if err != nil {
			in.refused = append(in.refused, err.Error())
			return
		}
		in.bodies[string(body)]++
		if in.bodies[string(body)] > 1 {
			return
		}
		for _, event := range events {
			if e, ok := event.(*webhook.TemplateResponse); ok {
				in.completed[strings.TrimSuffix(path.Base(e.FinishedPDFURL), ".pdf")]++
			}
		}
	})
}

// Creating, signing, reminding and delivering, the program is killed again and again. What it acknowledged is there, every
// completed document was completed once and told once, and the reminder limit holds over all of its lives. Run it at length with
// go test -run Killed -timeout 30m . -kills 50 -changes 100000
func TestKilledUnderLoad(t *testing.T) {
	const secret = "a-secret-that-both-sides-know"
	verifier, err := webhook.NewVerifier([]string{secret}, nil)
	require.NoError(t, err)
	in := &inbox{completed: map[string]int{}, bodies: map[string]int{}}
	receiver := httptest.NewServer(in.handler(verifier))
	defer receiver.Close()

	data := filepath.Join(t.TempDir(), "sandbox.db")
	life := func() *sandbox {
		return start(t, "--plain-pdfs", "--data", data, "--webhook-secret", secret, "--api-key", "the-key")
	}
	s := life()
	var template control.ID
	require.NoError(t, s.client.Post(t.Context(), "/templates", control.Template{Name: "Offer", Roles: []control.Role{{Title: "Buyer"}}}, &template))
	require.NoError(t, s.client.Post(t.Context(), "/webhooks", control.Webhook{URL: receiver.URL, Event: "new_template_response"}, nil))

	done := &ledger{sent: map[string]bool{}, signed: map[string]bool{}}
	began, lives := time.Now(), 0
	for ; lives < *kills || done.acknowledged() < *changes; lives++ {
		underLoad(t, s, template.ID, done, func() {
			done.waitFor(done.acknowledged() + 1 + rand.IntN(2**changes / *kills))
			s.kill(t)
		})
		s = life()
	}
	allowed := 5 * (1 + int(time.Since(began)/(15*time.Minute)))
	t.Logf("%d kills, %d changes acknowledged in %v", lives, done.acknowledged(), time.Since(began).Round(time.Second))
	compare(t, s, done)
	compareDeliveries(t, s, in, done, lives)
	require.LessOrEqual(t, done.reminders, allowed)
	var reminders control.Page[control.Message]
	require.NoError(t, s.client.Get(t.Context(), "/messages", url.Values{"kind": {"reminder"}}, &reminders))
	require.GreaterOrEqual(t, reminders.Total, done.reminders)
	require.LessOrEqual(t, reminders.Total, allowed)
	s.stop(t)
}

// underLoad has eight clients work until the program is killed.
func underLoad(t *testing.T, s *sandbox, template string, done *ledger, kill func()) {
	t.Helper()
	var clients sync.WaitGroup
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	defer transport.CloseIdleConnections()
	client := &apiClient{s, &http.Client{Transport: transport}}
	for n := range 8 {
		clients.Go(func() {
			for i := 0; ; i++ {
				if !client.oneDocument(template, n == 0 && i%10 == 0, done) {
					return
				}
			}
		})
	}
	kill()
	clients.Wait()
}

// oneDocument sends a document and signs it, and reports false once the program does not answer.
func (c *apiClient) oneDocument(template string, remind bool, done *ledger) bool {
	var sent struct {
		ID string `json:"createdDocumentId"`
	}
	status := c.post("/pdf-template-lambda", map[string]any{
		"signingType": "PDF_TEMPLATE", "documentId": template,
		"receiversList": []any{map[string]string{"name": "Ann", "email": "ann@example.com", "roleTitle": "Buyer"}},
		"mailData":      map[string]string{"subject": "Please sign", "message": "Soon."},
	}, &sent)
	if status != http.StatusOK {
		return status != 0
	}
	done.note(done.sent, sent.ID)
	if remind {
		reference := map[string]string{"documentId": template, "documentType": "PDF_TEMPLATE", "responseId": sent.ID}
		query := url.Values{}
		for k, v := range reference {
			query.Set(k, v)
		}
		if c.post("/send-reminder?"+query.Encode(), reference, nil) == http.StatusOK {
			done.mu.Lock()
			done.reminders++
			done.mu.Unlock()
		}
	}
	if status = c.post(control.Prefix+"/documents/"+sent.ID+"/sign", control.Signature{Signer: "ann@example.com"}, nil); status == http.StatusOK {
		done.note(done.signed, sent.ID)
	}
	return status != 0
}

// compare checks that every acknowledged change is there and whole.
func compare(t *testing.T, s *sandbox, done *ledger) {
	t.Helper()
	found := map[string]control.DocumentRecord{}
	for offset := 0; ; {
		var page control.Page[control.DocumentRecord]
		require.NoError(t, s.client.Get(t.Context(), "/documents", url.Values{
			"type": {"PDF_TEMPLATE"}, "limit": {"1000"}, "offset": {fmt.Sprint(offset)},
		}, &page))
		for _, d := range page.Items {
			found[d.ID] = d
		}
		if offset = page.Next; offset == 0 {
			break
		}
	}
	for id := range done.sent {
		require.Contains(t, found, id, "was acknowledged as sent")
	}
	for id := range done.signed {
		require.Equal(t, "SIGNED", found[id].Status, "%s was acknowledged as signed", id)
	}
	require.LessOrEqual(t, len(found)-len(done.sent), 8*(*kills+1), "more documents than were asked for")
	each(t, slices.Collect(maps.Values(found)), func(d control.DocumentRecord) { wholeRecord(t, s, d) })
}

// wholeRecord checks a document's audit trail: it was sent once, and completed once if its status says so.
func wholeRecord(t *testing.T, s *sandbox, d control.DocumentRecord) {
	var trail control.Page[control.AuditEntry]
	if err := s.client.Get(t.Context(), "/audit", url.Values{"documentId": {d.ID}}, &trail); err != nil {
		t.Errorf("%s: %v", d.ID, err)
		return
	}
	actions := map[string]int{}
	last := ""
	for _, e := range trail.Items {
		if e.From != last {
			t.Errorf("%s: the trail goes from %q after %q", d.ID, e.From, last)
		}
		actions[e.Action]++
		last = e.To
	}
	completed := 0
	if d.Status == "SIGNED" {
		completed = 1
	}
	if actions["send"] != 1 || actions["complete"] != completed || last != d.Status {
		t.Errorf("%s is %s with the trail %v", d.ID, d.Status, trail.Items)
	}
}

// each calls fn for all items, eight at a time.
func each[T any](t *testing.T, items []T, fn func(T)) {
	t.Helper()
	next := make(chan T)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for item := range next {
				fn(item)
			}
		})
	}
	for _, item := range items {
		next <- item
	}
	close(next)
	workers.Wait()
}

// compareDeliveries checks that each completed document was told to the receiver, and twice only what was under way at a kill.
func compareDeliveries(t *testing.T, s *sandbox, in *inbox, done *ledger, lives int) {
	t.Helper()
	require.NoError(t, s.client.Post(t.Context(), "/clock/advance", control.Advance{By: control.Duration(24 * time.Hour)}, nil))
	in.mu.Lock()
	defer in.mu.Unlock()
	require.Empty(t, in.refused)
	for id := range done.signed {
		require.Equal(t, 1, in.completed[id], "completed events of %s", id)
	}
	again := 0
	for _, n := range in.bodies {
		again += n - 1
	}
	t.Logf("%d bodies, %d of them again", len(in.bodies), again)
	require.LessOrEqual(t, again, lives, "more was sent again than was under way")
}
