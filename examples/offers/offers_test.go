package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// fixture is the program's parts in the process of the test, on the clock of a service.
type fixture struct {
	*testing.T
	*app
	srv      *signformstest.Server
	template string
	where    string // the database
}

func newFixture(t *testing.T, db string) *fixture {
	srv := signformstest.NewServer(t, nil)
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	return &fixture{t, newApp(t, srv, db), srv, template, db}
}

func newApp(t *testing.T, srv *signformstest.Server, db string) *app {
	a := &app{client: srv.Client(), hosts: []string{srv.URL}, now: srv.Now, doubt: time.Minute, overdue: 72 * time.Hour, again: 168 * time.Hour}
	require.NoError(t, a.open(t.Context(), db))
	t.Cleanup(func() {
		require.NoError(t, a.events.Close())
		require.NoError(t, a.db.Close())
	})
	return a
}

// each runs a test on SQLite and on Postgres.
func each(t *testing.T, test func(f *fixture)) {
	t.Run("SQLite", func(t *testing.T) { test(newFixture(t, filepath.Join(t.TempDir(), "offers.db"))) })
	t.Run("Postgres", func(t *testing.T) { test(newFixture(t, newPostgres(t))) })
}

// want adds an offer.
func (f *fixture) want(ref, email string) {
	require.NoError(f, f.add(f.Context(), strings.NewReader(fmt.Sprintf("%s,%s,Buyer,Ann,%s\n", ref, f.template, email))))
}

func (f *fixture) passes() { require.NoError(f, f.pass(f.Context())) }

// later sees the doubts, lets them age, and does a pass.
func (f *fixture) later() {
	f.passes()
	f.srv.Advance(f.doubt)
	f.passes()
}

// lose breaks the next sends: their answers are lost after the work, or the requests before it.
func (f *fixture) lose(times int, afterWork bool) {
	f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Times: times, AfterWork: afterWork, Reset: true})
}

func (f *fixture) states() (states []string) {
	for _, o := range found(f.T, f.app, "TRUE") {
		states = append(states, o.Ref+" "+o.State)
	}
	return states
}

// documents returns the number of documents that the service made.
func (f *fixture) documents() int {
	_, total := f.srv.FindDocuments(signformstest.DocumentFilter{FromTemplates: true})
	return total
}

func (f *fixture) sign(ref string) {
	o := found(f.T, f.app, "ref = '"+ref+"'")[0]
	require.NoError(f, f.srv.Signer(o.Document, o.Email).Sign())
}

func TestLifeOfAnOffer(t *testing.T) {
	each(t, func(f *fixture) {
		f.want("1", "Ann@Example.com")
		f.want("1", "somebody-else@example.com")
		f.passes()
		require.Equal(f, []string{"1 open"}, f.states())
		f.sign("1")
		f.passes()
		require.Equal(f, []string{"1 open"}, f.states(), "nothing hinted at it")
		require.NoError(f, f.hint(f.Context(), []webhook.Signer{{Email: "ANN@example.com"}}))
		f.passes()
		require.Equal(f, []string{"1 archived"}, f.states())
		var out strings.Builder
		require.NoError(f, f.show(f.Context(), &out, "ann@EXAMPLE.com"))
		require.Contains(f, out.String(), `"SIGNED": "Ann" <"ann@example.com"> "SIGNED"`)
		require.NoError(f, f.pdf(f.Context(), &out, "1"))
		require.Contains(f, out.String(), "%PDF-")
		require.EqualError(f, f.pdf(f.Context(), io.Discard, "2"), `no PDF of "2" is archived: see offers show`)
		require.EqualError(f, f.show(f.Context(), io.Discard, "2"), `no offer has the ref or address "2"`)
	})
}

func TestLostAnswers(t *testing.T) {
	for name, afterWork := range map[string]bool{"after the work": true, "before the work": false} {
		t.Run(name, func(t *testing.T) {
			each(t, func(f *fixture) {
				f.lose(1, afterWork)
				f.want("1", "ann@example.com")
				f.passes()
				f.passes()
				require.Equal(f, []string{"1 sending"}, f.states(), "it is not known yet, and not sent again")
				f.later()
				require.Equal(f, []string{"1 open"}, f.states())
				require.Equal(f, 1, f.documents())
			})
		})
	}
}

// late is a network that holds the first send back. The sender sees a lost connection.
type late struct {
	http.RoundTripper
	held *http.Request
}

func (l *late) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.held != nil || r.Method != http.MethodPost {
		return l.RoundTripper.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	l.held = r.Clone(context.Background())
	l.held.Body = io.NopCloser(bytes.NewReader(body))
	return nil, errors.New("the connection is lost")
}

// A request arrives after its sender gave it up, and after the list of documents was asked for.
func TestLateRequest(t *testing.T) {
	each(t, func(f *fixture) {
		options := f.srv.ClientOptions()
		network := &late{RoundTripper: options.HTTPClient.Transport}
		options.HTTPClient = &http.Client{Transport: network}
		var err error
		f.client, err = signforms.New(f.srv.URL, f.srv.APIKey, options)
		require.NoError(f, err)
		f.want("1", "ann@example.com")
		f.passes()
		f.srv.Advance(f.doubt / 2)
		f.passes()
		require.NoError(f, f.reconcile(f.Context(), "TRUE"))
		require.Equal(f, []string{"1 sending"}, f.states())
		answer, err := network.RoundTripper.RoundTrip(network.held)
		require.NoError(f, err)
		require.NoError(f, answer.Body.Close())
		f.later()
		require.Equal(f, []string{"1 open"}, f.states())
		require.Equal(f, 1, f.documents())
	})
}

// Two offers to one address, whose answers are both lost.
func TestTwoDoubtsAboutOneAddress(t *testing.T) {
	each(t, func(f *fixture) {
		f.lose(2, true)
		f.want("1", "ann@example.com")
		f.want("2", "ann@example.com")
		f.passes()
		require.Equal(f, []string{"1 sending", "2 new"}, f.states())
		f.later()
		require.Equal(f, []string{"1 open", "2 sending"}, f.states())
		f.later()
		require.Equal(f, []string{"1 open", "2 open"}, f.states())
		require.Equal(f, 2, f.documents())
	})
}

// Somebody sent the same template to the same address by hand: a program cannot tell which document is the offer's.
func TestAPersonDecides(t *testing.T) {
	each(t, func(f *fixture) {
		byHand := signforms.TemplateSendParams{TemplateID: f.template, Receivers: []signforms.Receiver{{Name: "Ann", Email: "Ann@example.com", RoleTitle: "Buyer"}}}
		f.want("0", "ann@example.com")
		f.passes()
		require.Equal(f, []string{"0 open"}, f.states())

		f.lose(1, true)
		f.want("1", "ann@example.com")
		f.passes()
		other, err := f.client.Templates.Send(f.Context(), byHand)
		require.NoError(f, err)
		f.later()
		require.Equal(f, []string{"0 open", "1 ask"}, f.states())
		o := found(f.T, f.app, "ref = '1'")[0]
		require.Contains(f, o.Note, other.CreatedDocumentID)
		require.NotContains(f, o.Note, found(f.T, f.app, "ref = '0'")[0].Document)
		f.later()
		require.Equal(f, 3, f.documents(), "never sent again by itself")

		require.Error(f, f.decide(f.Context(), "0", "again"))
		require.Error(f, f.decide(f.Context(), "1", "0123456789abcdef01234567"), "there is no such document")
		byHand.Receivers[0].Email = "ben@example.com"
		bens, err := f.client.Templates.Send(f.Context(), byHand)
		require.NoError(f, err)
		require.ErrorContains(f, f.decide(f.Context(), "1", bens.CreatedDocumentID), "is not of this template and address")
		require.ErrorContains(f, f.decide(f.Context(), "1", found(f.T, f.app, "ref = '0'")[0].Document), "belongs to another offer")
		require.NoError(f, f.decide(f.Context(), "1", other.CreatedDocumentID))
		require.Equal(f, []string{"0 open", "1 open"}, f.states())
	})
}

// The service's clock is behind, and what it says of signers cannot be read: neither makes the document somebody else's.
func TestDocumentThatCannotBeCompared(t *testing.T) {
	for name, replace := range map[string][2]string{
		"made before the send": {`"createdAt":"2`, `"createdAt":"1`},
		"no signers":           {`"signers":[`, `"signers":null,"others":[`},
		"an address in parts":  {`"email":"ann@example.com"`, `"email":{"address":"ann@example.com"}`},
		"a name before it":     {`"email":"ann@example.com"`, `"email":"Ann <ann@example.com>"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, filepath.Join(t.TempDir(), "offers.db"))
			options := f.srv.ClientOptions()
			options.HTTPClient = &http.Client{Transport: replacing{options.HTTPClient.Transport, replace}}
			var err error
			f.client, err = signforms.New(f.srv.URL, f.srv.APIKey, options)
			require.NoError(f, err)
			f.lose(1, true)
			f.want("1", "ann@example.com")
			f.passes()
			f.later()
			require.Equal(f, []string{"1 open"}, f.states())
			require.Equal(f, 1, f.documents())
		})
	}
}

// replacing replaces a text in answers to lists.
type replacing struct {
	http.RoundTripper
	texts [2]string
}

func (r replacing) RoundTrip(req *http.Request) (*http.Response, error) {
	answer, err := r.RoundTripper.RoundTrip(req)
	if err != nil || req.Method != http.MethodGet {
		return answer, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	replaced := bytes.ReplaceAll(body, []byte(r.texts[0]), []byte(r.texts[1]))
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(replaced)), int64(len(replaced))
	answer.Header.Del("Content-Length")
	return answer, err
}

func TestRefusedSendIsForAPerson(t *testing.T) {
	each(t, func(f *fixture) {
		remove := f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: http.StatusConflict})
		f.want("1", "ann@example.com")
		f.passes()
		require.Equal(f, []string{"1 ask"}, f.states())
		remove()
		require.NoError(f, f.decide(f.Context(), "1", "again"))
		f.passes()
		require.Equal(f, []string{"1 open"}, f.states())
	})
}

// What a list does not say counts only when the list is whole.
func TestListThatFailsProvesNothing(t *testing.T) {
	each(t, func(f *fixture) {
		f.lose(1, true)
		f.want("1", "ann@example.com")
		f.passes()
		f.passes() // sees the doubt
		remove := f.srv.Fail(signformstest.Fault{Operation: signforms.OpListRespondents, Status: http.StatusForbidden})
		f.srv.Advance(f.doubt)
		require.ErrorIs(f, f.pass(f.Context()), signforms.ErrForbidden)
		require.Equal(f, []string{"1 sending"}, f.states())
		require.Equal(f, 1, f.documents())
		remove()
		f.passes()
		require.Equal(f, []string{"1 open"}, f.states())
		require.Equal(f, 1, f.documents())
	})
}

// Two processes send at once from one database, to two addresses, and answers get lost.
func TestTwoProcessesSendNothingTwice(t *testing.T) {
	test := func(t *testing.T, db string) {
		f := newFixture(t, db)
		other := newApp(t, f.srv, db)
		f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Probability: 0.3, AfterWork: true, Reset: true})
		for n := range 12 {
			f.want(fmt.Sprint(n), fmt.Sprint(n%2, "@example.com"))
		}
		for len(found(t, f.app, "state = 'open'")) < 12 {
			var passes sync.WaitGroup
			for _, a := range []*app{f.app, other, f.app, other} {
				passes.Go(func() { a.pass(t.Context()) }) // may fail: the index refuses the second of two doubts about an address
			}
			passes.Wait()
			f.srv.Advance(f.doubt)
		}
		require.Equal(t, 12, f.documents())
	}
	t.Run("SQLite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "offers.db")) })
	t.Run("Postgres", func(t *testing.T) { test(t, newPostgres(t)) })
}

// An event that comes while the send is in doubt is a hint that waits.
func TestEventBeforeItsSendIsRecorded(t *testing.T) {
	each(t, func(f *fixture) {
		f.lose(1, true)
		f.want("1", "ann@example.com")
		f.passes()
		documents, _ := f.srv.FindDocuments(signformstest.DocumentFilter{FromTemplates: true})
		require.NoError(f, f.srv.Signer(documents[0].ID, "ann@example.com").Sign())
		require.NoError(f, f.hint(f.Context(), []webhook.Signer{{Email: "ann@example.com"}}))
		f.passes()
		f.later()
		require.Equal(f, []string{"1 archived"}, f.states())
	})
}

// No event told of these documents.
func TestReconciliationFindsWhatNoWebhookTold(t *testing.T) {
	each(t, func(f *fixture) {
		for _, ref := range []string{"declined", "open", "signed"} {
			f.want(ref, ref+"@example.com")
		}
		f.passes()
		f.sign("signed")
		declined := found(f.T, f.app, "ref = 'declined'")[0]
		require.NoError(f, f.srv.Signer(declined.Document, declined.Email).Decline(""))
		require.NoError(f, f.reconcile(f.Context(), "state = 'open'"))
		f.passes()
		require.Equal(f, []string{"declined closed", "open open", "signed archived"}, f.states())
	})
}

// A PDF that cannot be had leaves the offer open, for the next pass.
func TestPDFOfAnotherHost(t *testing.T) {
	each(t, func(f *fixture) {
		f.want("1", "ann@example.com")
		f.passes()
		f.sign("1")
		require.NoError(f, f.hint(f.Context(), []webhook.Signer{{Email: "ann@example.com"}}))
		f.hosts = []string{"https://files.example.com"}
		err := f.pass(f.Context())
		require.ErrorContains(f, err, "OFFERS_PDF_HOSTS")
		require.NotContains(f, err.Error(), f.srv.URL)
		elsewhere := httptest.NewServer(http.NotFoundHandler())
		defer elsewhere.Close()
		f.hosts = []string{elsewhere.URL}
		for _, link := range []string{elsewhere.URL + "/token.pdf", elsewhere.URL + ".example.com/token.pdf", "://token", ""} {
			_, err := f.download(f.Context(), link)
			require.Error(f, err)
			require.NotContains(f, err.Error(), "token")
		}
		require.Equal(f, []string{"1 open"}, f.states())
		f.hosts = []string{f.srv.URL}
		f.passes()
		require.Equal(f, []string{"1 archived"}, f.states())
	})
}

func TestPDFThatIsNotWhole(t *testing.T) {
	f := newFixture(t, filepath.Join(t.TempDir(), "offers.db"))
	const pdf = "%PDF-1.7\n1 0 obj\n%%EOF\n"
	asked := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		io.WriteString(w, pdf)
	}))
	defer elsewhere.Close()
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, elsewhere.URL+"/token", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/near":
			http.Redirect(w, r, "/whole", http.StatusFound)
		case "/announced":
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, pdf)
		case "/cut":
			io.WriteString(w, pdf[:12])
		case "/whole":
			io.WriteString(w, pdf)
		}
	}))
	defer files.Close()
	f.hosts = []string{files.URL}
	for _, path := range []string{"/away", "/round", "/announced", "/cut", "/empty"} {
		_, err := f.download(t.Context(), files.URL+path)
		require.Error(t, err, path)
		require.NotContains(t, err.Error(), "token")
	}
	require.Zero(t, asked)
	for _, path := range []string{"/near", "/whole"} {
		got, err := f.download(t.Context(), files.URL+path)
		require.NoError(t, err)
		require.Equal(t, pdf, string(got))
	}
}

// Twelve offers are late at once. Each is reminded once, and never are there more than five in 15 minutes, though the program starts
// again and again, and forgets what it did.
func TestReminders(t *testing.T) {
	each(t, func(f *fixture) {
		for n := range 12 {
			f.want(fmt.Sprint(n), fmt.Sprint(n, "@example.com"))
		}
		f.passes()
		f.srv.Advance(f.overdue)
		f.srv.Fail(signformstest.Fault{Operation: signforms.OpSendReminder, Nth: 3, AfterWork: true, Reset: true})
		var at []time.Time
		for range 60 {
			f.srv.Advance(time.Minute)
			options := f.srv.ClientOptions()
			options.LimitStore = signforms.NewMemoryLimitStore(f.srv.Now) // as a new process has
			var err error
			f.client, err = signforms.New(f.srv.URL, f.srv.APIKey, options)
			require.NoError(f, err)
			f.passes()
		}
		to := map[string]int{}
		for _, mail := range f.srv.Messages() {
			if mail.Kind == "reminder" {
				to[mail.To]++
				at = append(at, mail.At)
			}
		}
		require.Len(f, to, 12)
		require.Len(f, at, 12, "each once, also the one whose answer got lost")
		for i := range len(at) - 5 {
			require.Greater(f, at[i+5].Sub(at[i]), 15*time.Minute)
		}
		for _, r := range f.srv.Requests() {
			require.NotEqual(f, http.StatusTooManyRequests, r.StatusCode)
		}
	})
}

// A reminder that was not sent is tried again, and one to a document that is gone does not keep the others from theirs.
func TestRemindersThatWereNotSent(t *testing.T) {
	each(t, func(f *fixture) {
		f.want("1", "ann@example.com")
		f.want("2", "ben@example.com")
		f.passes()
		f.srv.Advance(f.overdue)
		f.srv.Fail(signformstest.Fault{Operation: signforms.OpSendReminder, Times: 1, Status: http.StatusForbidden})
		require.ErrorIs(f, f.pass(f.Context()), signforms.ErrForbidden)
		f.srv.Fail(signformstest.Fault{Operation: signforms.OpSendReminder, Times: 1, Status: http.StatusNotFound})
		f.passes()
		mails := f.srv.Messages()
		require.Equal(f, []string{"reminder", "ben@example.com"}, []string{mails[len(mails)-1].Kind, mails[len(mails)-1].To})
		require.Len(f, found(f.T, f.app, "reminded > 0"), 2)
	})
}

func TestMistakes(t *testing.T) {
	f := newFixture(t, filepath.Join(t.TempDir(), "offers.db"))
	for _, line := range []string{"1,t,Buyer,Ann\n", ",t,Buyer,Ann,ann@example.com\n", "1,t,Buyer,Ann,ann\n", "1,t,Buyer,Ann,ann@example.com ben@example.com\n", "1,t,Buyer,Ann,@\n", "\"\n",
		"1,t,Buyer,Ann,ann@example.com\n", "1," + f.template + ",Buyer,J\xf6rg,ann@example.com\n", "\xf6," + f.template + ",Buyer,Ann,ann@example.com\n"} {
		require.Error(t, f.add(t.Context(), strings.NewReader("0,"+f.template+",Buyer,Ann,ann@example.com\n"+line)), line)
		require.Empty(t, f.states(), line)
	}
	sheet := "\ufeffa, " + f.template + " ,Buyer,Ann, ANN@example.com \nb," + f.template + ",Buyer,Ann,Ann <ann@example.com>\n"
	require.NoError(t, f.add(t.Context(), strings.NewReader(sheet)))
	added := found(t, f.app, "email = 'ann@example.com' AND template = '"+f.template+"'")
	require.Len(t, added, 2)
	require.Equal(t, "a", added[0].Ref)
	f.want("=1+1", "ann@example.com")
	var out strings.Builder
	require.NoError(t, f.export(t.Context(), &out))
	require.Contains(t, out.String(), "'=1+1,Ann,")
	_, err := f.change(t.Context(), "UPDATE nothing SET x = 1")
	require.Error(t, err)
	require.Error(t, f.run(t.Context(), "127.0.0.1:0", []string{""}))
	require.Error(t, f.run(t.Context(), "no address", []string{"a secret of the test"}))
}

func TestRunEndsWithItsContext(t *testing.T) {
	f := newFixture(t, filepath.Join(t.TempDir(), "offers.db"))
	f.every = time.Hour
	f.want("1", "ann@example.com")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.run(ctx, "127.0.0.1:0", []string{"a secret of the test"}) }()
	require.Eventually(t, func() bool { return f.documents() == 1 }, time.Minute, 5*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
}

func TestWithoutArguments(t *testing.T) {
	require.NoError(t, runDemo(t.Context()))
}
