package clienttest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/signformstest"
)

// stormCalls is how many calls of each operation the storm makes.
var stormCalls = flag.Int("storm.calls", 400, "how many calls of each operation the storm makes")

// done counts, by the service's own record, how often something was done.
func done(srv *signformstest.Server, kind signformstest.MessageKind) map[string]int {
	n := map[string]int{}
	for _, m := range srv.Messages() {
		if m.Kind == kind {
			n[m.To]++
		}
	}
	return n
}

// TestFaultStorm breaks a third of all requests in random ways. In the end every list and void is right, no send or reminder
// was carried out twice, and each error tells the truth about what was.
func TestFaultStorm(t *testing.T) {
	*stormCalls = clienttest.Long(*stormCalls, 100)
	synctest.Test(t, func(t *testing.T) {
		network := signformstest.NewNetwork()
		srv, err := signformstest.Start(&signformstest.Options{Network: network, Seed: 1})
		require.NoError(t, err)
		below := network.HTTPClient().Transport
		s := newStorm(below, 1)
		c := clienttest.ClientOf(t, srv, func(o *signforms.Options) {
			o.HTTPClient, o.MaxAttempts, o.ReminderMaxWait = &http.Client{Transport: s}, 25, -1
		})
		w := newStormWork(srv, c)
		var calls sync.WaitGroup
		for _, work := range []func(*testing.T){w.lists, w.voids, w.sends, w.forms, w.reminders, w.respondents, w.responses} {
			calls.Go(func() { work(t) })
		}
		calls.Wait()
		if !t.Failed() {
			w.judge(t)
		}
		broken := 0
		for _, f := range faults {
			require.Positive(t, s.broken[f.name], "fault %s", f.name)
			broken += s.broken[f.name]
		}
		all := float64(broken + s.broken["none"])
		deviation := math.Sqrt(1.0 / 3 * 2.0 / 3 / all)
		require.InDelta(t, 1.0/3, float64(broken)/all, max(0.02, 6*deviation))
		srv.Close()
		below.(*http.Transport).CloseIdleConnections()
		network.Close() // whatever else is left makes the bubble panic
	})
}

// stormWork is what the storm finds in the service, and what became of the calls.
type stormWork struct {
	srv *signformstest.Server
	c   *signforms.Client

	documents      []string // to be listed and voided
	template, form string
	answered       []string // responses to the form
	pending        []string // to be reminded

	mu      sync.Mutex
	outcome map[string]error // of sends and reminders, by receiver
}

func newStormWork(srv *signformstest.Server, c *signforms.Client) *stormWork {
	w := &stormWork{srv: srv, c: c, outcome: map[string]error{}, template: clienttest.AddOffer(srv), form: clienttest.AddIntake(srv)}
	for i := range *stormCalls {
		w.documents = append(w.documents, clienttest.AddLease(srv, "Lease"))
		w.pending = append(w.pending, srv.AddDocument(signformstest.Document{
			Name: "Pending", Signers: []signformstest.Signer{{Email: fmt.Sprintf("reminded%d@example.com", i)}},
		}))
	}
	for range 250 {
		id, err := srv.SubmitForm(w.form, signformstest.Submission{Answers: map[string]string{"Name?": "Ann"}})
		if err != nil {
			panic(err)
		}
		w.answered = append(w.answered, id)
	}
	return w
}

// each makes stormCalls calls, some at a time.
func each(t *testing.T, atOnce int, call func(ctx context.Context, i int) error) {
	var workers sync.WaitGroup
	for w := range atOnce {
		workers.Go(func() {
			for i := w; i < *stormCalls; i += atOnce {
				if err := call(t.Context(), i); err != nil {
					t.Errorf("call %d: %v", i, err)
					return
				}
			}
		})
	}
	workers.Wait()
}

func (w *stormWork) lists(t *testing.T) {
	each(t, 4, func(ctx context.Context, i int) error {
		d, err := w.c.Documents.Get(ctx, w.documents[i])
		if err == nil && d.DocumentID != w.documents[i] {
			return fmt.Errorf("got another document")
		}
		return err
	})
	all := map[string]bool{}
	for d, err := range w.c.Documents.All(t.Context(), signforms.DocumentListParams{Limit: 50}) {
		if err != nil {
			t.Errorf("All: %v", err)
			return
		}
		all[d.DocumentID] = true
	}
	if len(all) != 2**stormCalls {
		t.Errorf("All yielded %d documents, want %d", len(all), 2**stormCalls)
	}
}

func (w *stormWork) voids(t *testing.T) {
	each(t, 4, func(ctx context.Context, i int) error {
		return clienttest.Second(w.c.Documents.Void(ctx, signforms.PDFDocument(w.documents[i])))
	})
}

func (w *stormWork) respondents(t *testing.T) {
	each(t, 2, func(ctx context.Context, i int) error {
		return clienttest.Second(w.c.Templates.Respondents(ctx, signforms.RespondentListParams{TemplateID: w.template}))
	})
}

func (w *stormWork) responses(t *testing.T) {
	each(t, 2, func(ctx context.Context, i int) error {
		r, err := w.c.Forms.Response(ctx, w.answered[i%len(w.answered)])
		if err == nil && r.FormID != w.form {
			return fmt.Errorf("got a response to another form")
		}
		return err
	})
}

// note keeps what became of a send or reminder; that it fails is to be expected.
func (w *stormWork) note(receiver string, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcome[receiver] = err
	return nil
}

func (w *stormWork) sends(t *testing.T) {
	each(t, 4, func(ctx context.Context, i int) error {
		to := fmt.Sprintf("sent%d@example.com", i)
		return w.note(to, clienttest.Second(w.c.Templates.Send(ctx, signforms.TemplateSendParams{
			TemplateID: w.template, Receivers: []signforms.Receiver{{Name: "A", Email: to, RoleTitle: "Buyer"}},
		})))
	})
}

func (w *stormWork) forms(t *testing.T) {
	each(t, 4, func(ctx context.Context, i int) error {
		to := fmt.Sprintf("form%d@example.com", i)
		return w.note(to, clienttest.Second(w.c.Forms.Send(ctx, signforms.FormSendParams{FormID: w.form, Receivers: []signforms.Receiver{{Name: "A", Email: to}}})))
	})
}

func (w *stormWork) reminders(t *testing.T) {
	each(t, 3, func(ctx context.Context, i int) error {
		return w.note(fmt.Sprintf("reminded%d@example.com", i), clienttest.Second(w.c.Documents.Remind(ctx, signforms.PDFDocument(w.pending[i]))))
	})
}

// judge compares what the client said with what the service did.
func (w *stormWork) judge(t *testing.T) {
	invited, reminded := done(w.srv, "invitation"), done(w.srv, "reminder")
	require.Len(t, w.outcome, 3**stormCalls)
	unknown := map[bool]int{}
	for to, err := range w.outcome {
		n := invited[to]
		if strings.HasPrefix(to, "reminded") {
			n = reminded[to]
		}
		switch {
		case err == nil:
			require.Equal(t, 1, n, "%s: a success was carried out once", to)
		case errors.Is(err, signforms.ErrOutcomeUnknown):
			require.LessOrEqual(t, n, 1, "%s: never twice; %v", to, err)
			unknown[n == 1]++
		default:
			require.Zero(t, n, "%s: an error other than ErrOutcomeUnknown says it was not done: %v", to, err)
		}
	}
	require.Greater(t, unknown[true], *stormCalls/20, "carried out, and the client could not know")
	require.Greater(t, unknown[false], *stormCalls/20, "not carried out, and the client could not know")
	for _, r := range w.srv.Requests() {
		require.NotEqual(t, 429, r.StatusCode, "the budget kept the limit")
	}
	voided, err := w.c.Documents.List(t.Context(), signforms.DocumentListParams{Status: signforms.StatusVoid, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, *stormCalls, voided.Pagination.TotalItems)
}
