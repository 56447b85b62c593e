package endtoend_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
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

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/webhook"
)

var (
	kills   = flag.Int("kills", 4, "how often the program is killed under load, at least")
	changes = flag.Int("changes", 500, "how many changes are acknowledged before the last kill, at least")
)

// ledger holds what the program acknowledged in all its lives. A life is the time from a start to the next kill.
type ledger struct {
	mu        sync.Mutex
	sent      map[string]bool // documents by id
	signed    map[string]bool // the documents whose signature was acknowledged
	reminders int
	changed   chan struct{} // holds a token when a change was acknowledged since waitFor looked
}

func newLedger() *ledger {
	return &ledger{sent: map[string]bool{}, signed: map[string]bool{}, changed: make(chan struct{}, 1)}
}

func (l *ledger) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sent) + len(l.signed) + l.reminders
}

// stalled is the time without an acknowledged change after which waitFor gives up.
const stalled = time.Minute

// waitFor waits until this many changes were acknowledged in all. It returns an error when none was acknowledged for a minute.
func (l *ledger) waitFor(n int) error {
	for l.acknowledged() < n {
		select {
		case <-l.changed:
		case <-time.After(stalled):
			return fmt.Errorf("no change was acknowledged for %v: there are %d, and %d were waited for", stalled, l.acknowledged(), n)
		}
	}
	return nil
}

// note records an acknowledged change.
func (l *ledger) note(write func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	write()
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// inbox is a receiver of webhooks that outlives the program.
type inbox struct {
	mu        sync.Mutex
	life      int            // of the program, counted by the test
	completed map[string]int // completed events by document
	bodies    map[string]int // the life in which a body came last
	again     []int          // for each body that came again, the life in which it came before
	refused   []string
}

type lifeKey struct{}

// connected notes in which life a connection was made, because its data may be read only in a later life.
func (in *inbox) connected(ctx context.Context, _ net.Conn) context.Context {
	in.mu.Lock()
	defer in.mu.Unlock()
	return context.WithValue(ctx, lifeKey{}, in.life)
}

func (in *inbox) handler(verifier *webhook.Verifier) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the program was killed while it was sending
		}
		events, err := verifier.Events(r.Header, body)
		in.mu.Lock()
		defer in.mu.Unlock()
		if err != nil {
			in.refused = append(in.refused, err.Error())
			return
		}
		before, again := in.bodies[string(body)]
		in.bodies[string(body)] = r.Context().Value(lifeKey{}).(int)
		if again {
			in.again = append(in.again, before)
			return
		}
		for _, event := range events {
			if e, ok := event.(*webhook.TemplateResponse); ok {
				in.completed[strings.TrimSuffix(path.Base(e.FinishedPDFURL), ".pdf")]++
			}
		}
	})
}

// The program is killed again and again while it creates, signs, reminds and delivers. Every acknowledged change is still there.
// Every completed document was completed once and delivered once. The reminder limit holds over all lives. For a long run use
// go test -run Killed -timeout 30m . -kills 50 -changes 100000
func TestKilledUnderLoad(t *testing.T) {
	const secret = "a-secret-that-both-sides-know"
	verifier, err := webhook.NewVerifier([]string{secret}, nil)
	require.NoError(t, err)
	in := &inbox{completed: map[string]int{}, bodies: map[string]int{}}
	receiver := httptest.NewUnstartedServer(in.handler(verifier))
	receiver.Config.ConnContext = in.connected
	receiver.Start()
	defer receiver.Close()

	data := filepath.Join(t.TempDir(), "sandbox.db")
	life := func() *sandbox {
		return start(t, "--plain-pdfs", "--data", data, "--webhook-secret", secret, "--api-key", "the-key")
	}
	s := life()
	var template wire.ID
	require.NoError(t, s.client.Post(t.Context(), "/templates", wire.Template{Template: refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}}}, &template))
	require.NoError(t, s.client.Post(t.Context(), "/webhooks", refserver.Webhook{URL: receiver.URL, Event: "new_template_response"}, nil))

	done := newLedger()
	began, lives := time.Now(), 0
	for ; lives < *kills || done.acknowledged() < *changes; lives++ {
		var err error
		underLoad(t, s, template.ID, done, func() {
			err = done.waitFor(done.acknowledged() + 1 + rand.IntN(2**changes / *kills))
			s.kill(t)
		})
		require.NoError(t, err)
		require.NotContains(t, s.stderr.String(), "lacks the last saves")
		in.mu.Lock()
		in.life++
		in.mu.Unlock()
		s = life()
	}
	t.Logf("%d kills, %d changes acknowledged in %v", lives, done.acknowledged(), time.Since(began).Round(time.Second))
	found := documentsOf(t, s.client)
	compare(t, found, done)
	trails := &trails{}
	each(slices.Collect(maps.Values(found)), func(d refserver.DocumentState) { trails.check(t, s, d) })
	compareReminders(t, trails.reminded, done.reminders)
	compareDeliveries(t, s, in, found)
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

// oneDocument sends a document and signs it. It returns false when the program does not answer.
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
	done.note(func() { done.sent[sent.ID] = true })
	if remind {
		reference := map[string]string{"documentId": template, "documentType": "PDF_TEMPLATE", "responseId": sent.ID}
		query := url.Values{}
		for k, v := range reference {
			query.Set(k, v)
		}
		if c.post("/send-reminder?"+query.Encode(), reference, nil) == http.StatusOK {
			done.note(func() { done.reminders++ })
		}
	}
	if status = c.post(wire.Prefix+"/documents/"+sent.ID+"/sign", wire.Signature{Signer: "ann@example.com"}, nil); status == http.StatusOK {
		done.note(func() { done.signed[sent.ID] = true })
	}
	return status != 0
}

// documentsOf returns every document that the program has, by id.
func documentsOf(t *testing.T, client *wire.Client) map[string]refserver.DocumentState {
	t.Helper()
	found := map[string]refserver.DocumentState{}
	for offset := 0; ; {
		var page wire.Page[refserver.DocumentState]
		require.NoError(t, client.Get(t.Context(), "/documents", url.Values{
			"type": {"PDF_TEMPLATE"}, "limit": {"1000"}, "offset": {fmt.Sprint(offset)},
		}, &page))
		for _, d := range page.Items {
			found[d.ID] = d
		}
		if offset = page.Next; offset == 0 {
			return found
		}
	}
}

// compare checks that no acknowledged change is missing.
func compare(t *testing.T, found map[string]refserver.DocumentState, done *ledger) {
	t.Helper()
	lost := 0
	for id := range done.sent {
		if found[id].ID == "" {
			lost++
			t.Errorf("%s was acknowledged as sent, and is not there", id)
		}
	}
	for id := range done.signed {
		if found[id].Status != "SIGNED" {
			lost++
			t.Errorf("%s was acknowledged as signed, and is %q", id, found[id].Status)
		}
	}
	t.Logf("%d documents, %d of them acknowledged; %d acknowledged signatures; %d lost", len(found), len(done.sent), len(done.signed), lost)
	require.LessOrEqual(t, len(found)-len(done.sent), 8*(*kills+1), "more documents than were asked for")
}

// trails holds the content of the audit trails of all documents.
type trails struct {
	mu       sync.Mutex
	reminded []time.Time
}

// check checks a document's audit trail: it was sent once, and completed once if its status says so.
func (all *trails) check(t *testing.T, s *sandbox, d refserver.DocumentState) {
	var trail wire.Page[refserver.AuditEntry]
	if err := s.client.Get(t.Context(), "/audit", url.Values{"documentId": {d.ID}}, &trail); err != nil {
		t.Errorf("%s: %v", d.ID, err)
		return
	}
	actions := map[string]int{}
	last := refserver.Status("")
	for _, e := range trail.Items {
		if e.From != last {
			t.Errorf("%s: the trail goes from %q after %q", d.ID, e.From, last)
		}
		if e.Action == "remind" {
			all.mu.Lock()
			all.reminded = append(all.reminded, e.At)
			all.mu.Unlock()
		}
		actions[string(e.Action)]++
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

// compareReminders checks that there were no more reminders in any 15 minutes than the limit allows, over all lives. The limit uses
// the time of arrival. The trail has the time of sending, which is a moment later.
func compareReminders(t *testing.T, sent []time.Time, acknowledged int) {
	t.Helper()
	slices.SortFunc(sent, time.Time.Compare)
	worst := 0
	for i, first := range sent {
		n := 0
		for n < len(sent[i:]) && sent[i+n].Sub(first) < 15*time.Minute-10*time.Second {
			n++
		}
		worst = max(worst, n)
	}
	t.Logf("%d reminders, %d of them acknowledged; at most %d in 15 minutes", len(sent), acknowledged, worst)
	require.GreaterOrEqual(t, len(sent), acknowledged)
	require.LessOrEqual(t, worst, 5)
}

// each calls fn for all items, eight at a time.
func each[T any](items []T, fn func(T)) {
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

// compareDeliveries checks that each signature was delivered to the receiver. For each life, only the one delivery that was under way
// at its end may have been delivered again.
func compareDeliveries(t *testing.T, s *sandbox, in *inbox, found map[string]refserver.DocumentState) {
	t.Helper()
	signed := 0
	for _, d := range found {
		if d.Status == "SIGNED" {
			signed++
		}
	}
	for told := -1; told < in.told(); { // waits as long as further deliveries arrive
		told = in.told()
		err := s.client.Post(t.Context(), "/clock/settle", wire.Wait{Timeout: wire.Duration(time.Minute)}, nil)
		t.Logf("%d of %d events told, %v", in.told(), 2*signed, err)
	}
	require.NoError(t, s.client.Post(t.Context(), "/clock/advance", wire.Advance{By: wire.Duration(24 * time.Hour)}, nil))
	in.mu.Lock()
	defer in.mu.Unlock()
	require.Empty(t, in.refused)
	require.Len(t, in.completed, signed)
	for id, n := range in.completed {
		if n != 1 || found[id].Status != "SIGNED" {
			t.Errorf("%d completed events of %s, which is %q", n, id, found[id].Status)
		}
	}
	require.Equal(t, 2*signed, len(in.bodies), "the signed and the completed event of each")
	slices.Sort(in.again)
	t.Logf("%d bodies, %d of them again, which came first in the lives %v", len(in.bodies), len(in.again), in.again)
	require.Equal(t, slices.Compact(slices.Clone(in.again)), in.again, "more was sent again of a life than was under way at its end")
}

// told returns how many different bodies arrived.
func (in *inbox) told() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.bodies)
}
