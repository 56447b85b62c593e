package refserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

var seeds = flag.Int("storage.seeds", 2, "how many courses of events the tests of storages go through")

func courses() int {
	if testing.Short() {
		return 1
	}
	return *seeds
}

// TestStorage_randomOutcomesAndRestarts makes random changes. Each save succeeds, fails, or has an unknown outcome. The test restarts the
// server at random. After each change a second server on the saved records must show the same as the running one.
func TestStorage_randomOutcomesAndRestarts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(courses()) {
		synctest.Test(t, func(t *testing.T) {
			m := &model{T: t, rng: rand.New(rand.NewPCG(seed, 1)), network: refserver.NewNetwork()}
			defer m.network.Close()
			m.url = m.network.Serve("app.test", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if m.flaky.Load() {
					w.WriteHeader(http.StatusBadGateway)
				}
			}))
			m.storage = &memory{}
			m.open()
			for range 50 {
				m.step()
			}
			m.srv.Close()
		})
	}
}

type model struct {
	*testing.T
	rng     *rand.Rand
	network *refserver.Network
	url     string
	flaky   atomic.Bool // the endpoint answers with an error
	storage *memory
	srv     *servicetest.Server
	outcome atomic.Int32
}

// open starts a server on the storage. From then on saves have random outcomes.
func (m *model) open() {
	m.outcome.Store(int32(saveDone))
	m.storage.Decide = func([]refserver.Record) saveOutcome { return saveOutcome(m.outcome.Load()) }
	opts := m.options()
	opts.Storage = m.storage
	m.srv = servicetest.Start(m.T, &opts)
	if len(m.srv.Webhooks()) == 0 {
		m.srv.AddWebhook(refserver.Webhook{URL: m.url, Event: refserver.SignatureCompleted})
		m.srv.AddWebhook(refserver.Webhook{URL: m.url, Event: refserver.FormResponse})
		m.srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "?"}}})
	}
}

func (m *model) options() refserver.Options {
	return refserver.Options{Start: start, PublicURL: publicURL, Network: m.network}
}

// step makes one change with one outcome, and compares the servers.
func (m *model) step() {
	before := m.settled()
	outcome := saveDone
	if m.rng.IntN(3) == 0 {
		outcome = saveFails
	}
	m.flaky.Store(m.rng.IntN(4) == 0)
	m.outcome.Store(int32(outcome))
	err := m.change()
	m.outcome.Store(int32(saveDone))
	after := m.settled()
	switch {
	case outcome == saveFails && errors.Is(err, refserver.ErrStorage):
		require.Equal(m, before.Documents, after.Documents)
		require.Equal(m, before.Audit, after.Audit)
	case err != nil:
		require.True(m, errors.Is(err, refserver.ErrStorage) || errors.Is(err, refserver.ErrRefused), "%v", err)
	}
	saved := m.options()
	saved.Storage = m.storage.Copy()
	again := servicetest.Start(m.T, &saved)
	require.NoError(m, again.Settle(m.Context()))
	require.Equal(m, show(after), show(stateOf(again)), "after %v", err)
	again.Close()
	if m.rng.IntN(10) == 0 {
		m.srv.Close()
		m.storage = m.storage.Copy()
		m.open()
		require.Equal(m, show(after), show(m.settled()))
	}
}

// settled returns the state of the server when nothing is under way. By then the outcome of every save is known.
func (m *model) settled() state {
	for m.srv.Settle(m.Context()) != nil {
		time.Sleep(time.Second) // virtual time
	}
	return stateOf(m.srv)
}

// show prints a state, one item per line.
func show(s state) string {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// change makes a random change.
func (m *model) change() error {
	documents, _ := m.srv.FindDocuments(refserver.DocumentFilter{})
	if len(documents) == 0 || m.rng.IntN(4) == 0 {
		_, err := m.srv.Server.AddDocument(refserver.Document{
			Name: "Lease", SigningOrder: m.rng.IntN(2) == 0, ExpiresFor: time.Duration(m.rng.IntN(3)) * 24 * time.Hour, PDF: fmt.Append(nil, m.rng.IntN(3)),
			Signers: []refserver.Signer{{Email: "ann@example.com"}, {Email: "ben@example.com"}},
		})
		return err
	}
	doc := documents[m.rng.IntN(len(documents))].ID
	signer := m.srv.Signer(doc, []string{"ann@example.com", "ben@example.com"}[m.rng.IntN(2)])
	switch m.rng.IntN(10) {
	case 0:
		return signer.View()
	case 1, 2, 3:
		return signer.Sign()
	case 4:
		return signer.Decline("no")
	case 5:
		_, err := m.srv.SubmitForm(m.srv.Forms()[0].ID, refserver.Submission{})
		return err
	case 6:
		return m.srv.Void(doc)
	case 7:
		return m.srv.Server.Advance(context.Background(), time.Duration(m.rng.IntN(30))*time.Hour)
	case 8:
		_, err := m.srv.ResendFailed(m.srv.Webhooks()[0].ID, start)
		return err
	}
	_, err := m.srv.Server.TestWebhook(m.srv.Webhooks()[0].ID)
	return err
}

// TestStorage_acknowledgedChangesAreKept cuts off the storage at a random save while many goroutines act and remind. Then it starts a server on
// the saved records. Every acknowledged change is there, reminders stay within the limit, and each completed document has exactly one
// completed event.
func TestStorage_acknowledgedChangesAreKept(t *testing.T) {
	t.Parallel()
	many := 3 * courses()
	if testing.Short() {
		many = 1
	}
	for seed := range uint64(many) {
		synctest.Test(t, func(t *testing.T) {
			outcome := []saveOutcome{saveFails, saveKept, saveLost}[seed%3]
			c := &crash{T: t, network: refserver.NewNetwork(), outcome: outcome, cut: 1 + rand.New(rand.NewPCG(seed, 2)).IntN(400)}
			defer c.network.Close()
			c.run()
			c.check()
		})
	}
}

// crash is a service that many goroutines use until its storage is cut off.
type crash struct {
	*testing.T
	network *refserver.Network
	storage memory
	outcome saveOutcome
	cut     int // the number of the first save with this outcome
	hook    string

	mu       sync.Mutex
	created  []string // acknowledged ids
	signed   []string
	voided   []string
	reminded int
	tried    map[string]bool // documents that someone tried to sign
}

func (c *crash) options() *refserver.Options {
	return &refserver.Options{Start: start, Storage: &c.storage, Network: c.network, PublicURL: publicURL}
}

func (c *crash) run() {
	srv := servicetest.Start(c.T, c.options())
	c.tried = map[string]bool{}
	c.hook = srv.AddWebhook(refserver.Webhook{
		URL: c.network.Serve("app.test", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})), Event: refserver.SignatureCompleted,
	})
	saves := 0
	c.storage.Decide = func([]refserver.Record) saveOutcome {
		if saves++; saves >= c.cut {
			return c.outcome
		}
		return saveDone
	}
	var users sync.WaitGroup
	for i := range 8 {
		users.Go(func() { c.use(srv, i) })
	}
	users.Wait()
	srv.Close()
	c.storage.Decide = nil
}

// use creates and signs documents until the storage fails.
func (c *crash) use(srv *servicetest.Server, i int) {
	client := srv.Client()
	for {
		doc, err := srv.Server.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
		if err != nil {
			return
		}
		c.acknowledge(&c.created, doc)
		switch _, err := client.Documents.Remind(c.Context(), signforms.PDFDocument(doc)); {
		case err == nil:
			c.mu.Lock()
			c.reminded++
			c.mu.Unlock()
		case !errors.Is(err, signforms.ErrRateLimited):
			return
		}
		if i%4 == 0 {
			if _, err := client.Documents.Void(c.Context(), signforms.PDFDocument(doc)); err != nil {
				return
			}
			c.acknowledge(&c.voided, doc)
			continue
		}
		c.mu.Lock()
		c.tried[doc] = true
		c.mu.Unlock()
		if srv.Signer(doc, "ann@example.com").Sign() != nil {
			return
		}
		c.acknowledge(&c.signed, doc)
	}
}

func (c *crash) acknowledge(list *[]string, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*list = append(*list, id)
}

// check compares a new server on the storage with what was acknowledged.
func (c *crash) check() {
	srv := servicetest.Start(c.T, c.options())
	defer srv.Close()
	for _, doc := range c.created {
		_, ok := srv.FindDocument(doc)
		require.True(c, ok, "created")
	}
	for list, want := range map[*[]string]refserver.Status{&c.signed: refserver.StatusSigned, &c.voided: refserver.StatusVoid} {
		for _, doc := range *list {
			d, _ := srv.FindDocument(doc)
			require.Equal(c, want, d.Status)
		}
	}
	require.NoError(c, srv.Settle(c.Context()))
	completed := map[string]int{}
	for _, d := range srv.Deliveries() {
		require.Equal(c, refserver.DeliveryDelivered, d.Status)
		if d.EventTypes[0] == "new_signature_pdf_completed" {
			completed[string(d.Body)]++
		}
	}
	signed, _ := srv.FindDocuments(refserver.DocumentFilter{Status: refserver.StatusSigned, Limit: 1e6})
	require.GreaterOrEqual(c, len(signed), len(c.signed))
	require.Len(c, completed, len(signed), "an event for each, and no other")
	for _, n := range completed {
		require.Equal(c, 1, n)
	}
	for _, d := range signed {
		require.True(c, c.tried[d.ID])
	}
	let := c.reminded
	for range 6 {
		d := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
		if status := c.remind(srv, d); status == 200 {
			let++
		}
	}
	require.LessOrEqual(c, let, 5)
}

func (c *crash) remind(srv *servicetest.Server, doc string) int {
	req, err := http.NewRequest(http.MethodPost, srv.URL+"/send-reminder?documentType=PDF&documentId="+doc, nil)
	require.NoError(c, err)
	req.Header.Set("x-api-key", srv.APIKey)
	resp, err := srv.HTTPClient().Do(req)
	require.NoError(c, err)
	resp.Body.Close()
	return resp.StatusCode
}
