package offers

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/stores/filestore"
	"github.com/signforms/signforms-go/webhook"
)

// fixture is a process, on the clock of a service.
type fixture struct {
	*testing.T
	*Offers
	srv      *signformstest.Server
	folder   string
	template string
}

func newFixture(t *testing.T) *fixture {
	srv := signformstest.NewServer(t, nil)
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	f := &fixture{T: t, srv: srv, folder: t.TempDir(), template: template}
	f.Offers = f.process(func(o *signforms.Options) {})
	return f
}

// process returns a new process that works on the same database.
func (f *fixture) process(change func(*signforms.Options)) *Offers {
	db, err := open(filepath.Join(f.folder, "offers.db"))
	require.NoError(f, err)
	f.Cleanup(func() { db.Close() })
	o := f.srv.ClientOptions()
	change(o)
	client, err := signforms.New(f.srv.URL, f.srv.APIKey, o)
	require.NoError(f, err)
	a, err := Prepare(f.Context(), db, client)
	require.NoError(f, err)
	a.now, a.Hosts = f.srv.Now, []string{f.srv.URL}
	return a
}

func open(path string) (*sql.DB, error) {
	pragmas := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(10000)"}}
	return sql.Open("sqlite", "file:"+path+"?"+pragmas.Encode())
}

// behind puts a network between the process and the service.
func (f *fixture) behind(network func(http.RoundTripper) http.RoundTripper) {
	f.Offers = f.process(func(o *signforms.Options) {
		o.Transport = network(o.Transport)
	})
}

func (f *fixture) want(ref, email string) {
	require.NoError(f, f.Add(f.Context(), Offer{Ref: ref, Template: f.template, Role: "Buyer", Name: "Ann", Email: email}))
}

func (f *fixture) passes() { require.NoError(f, f.Pass(f.Context())) }

// later sees the doubts, lets them age, and does a pass.
func (f *fixture) later() {
	f.passes()
	f.srv.Advance(doubtTime)
	f.passes()
}

// lose breaks the next sends: their answers are lost after the work, or the requests before it.
func (f *fixture) lose(times int, afterWork bool) {
	f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Times: times, AfterWork: afterWork, Reset: true})
}

func (f *fixture) find(where string) []Offer {
	offers, err := f.Find(f.Context(), where)
	require.NoError(f, err)
	return offers
}

func (f *fixture) states() (states []string) {
	for _, o := range f.find("TRUE") {
		states = append(states, o.Ref+" "+o.State)
	}
	return states
}

// documents returns the number of documents that the service made.
func (f *fixture) documents() int {
	total := len(f.srv.Documents())
	return total
}

func (f *fixture) sign(ref string) {
	o := f.find("ref = '" + ref + "'")[0]
	require.NoError(f, f.srv.Signer(o.Document, o.Email).Sign())
}

func (f *fixture) look(email string) error {
	return f.Look(f.Context(), []webhook.Signer{{Email: email}})
}

func TestLifeOfAnOffer(t *testing.T) {
	f := newFixture(t)
	f.want("1", "Ann@Example.com")
	f.want("1", "somebody-else@example.com")
	f.passes()
	require.Equal(t, []string{"1 open"}, f.states())
	f.sign("1")
	f.passes()
	require.Equal(t, []string{"1 open"}, f.states(), "nothing hinted at it")
	require.NoError(t, f.look("ANN@example.com"))
	require.Equal(t, []string{"1 signed"}, f.states())
	_, err := f.PDF(t.Context(), "1")
	require.ErrorIs(t, err, sql.ErrNoRows)
	require.NoError(t, f.KeepPDFs(t.Context()))
	pdf, err := f.PDF(t.Context(), "1")
	require.NoError(t, err)
	require.Contains(t, string(pdf), "%PDF-")
}

func TestLostAnswers(t *testing.T) {
	for name, afterWork := range map[string]bool{"after the work": true, "before the work": false} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.lose(1, afterWork)
			f.want("1", "ann@example.com")
			f.passes()
			f.passes()
			require.Equal(t, []string{"1 sending"}, f.states(), "it is not known yet, and not sent again")
			f.later()
			require.Equal(t, []string{"1 open"}, f.states())
			require.Equal(t, 1, f.documents())
		})
	}
}

// Two offers to one address, whose answers are both lost.
func TestTwoDoubtsAboutOneAddress(t *testing.T) {
	f := newFixture(t)
	f.lose(2, true)
	f.want("1", "ann@example.com")
	f.want("2", "ann@example.com")
	f.passes()
	require.Equal(t, []string{"1 sending", "2 new"}, f.states())
	f.later()
	require.Equal(t, []string{"1 open", "2 sending"}, f.states())
	f.later()
	require.Equal(t, []string{"1 open", "2 open"}, f.states())
	require.Equal(t, 2, f.documents())
}

// Somebody sent the same template to the same address by hand: a program cannot tell which document is the offer's.
func TestAPersonDecides(t *testing.T) {
	f := newFixture(t)
	f.want("0", "ann@example.com")
	f.passes()
	f.lose(1, true)
	f.want("1", "ann@example.com")
	f.passes()
	_, err := f.client.Templates.Send(t.Context(), f.find("ref = '1'")[0].params())
	require.NoError(t, err)
	f.later()
	require.Equal(t, []string{"0 open", "1 ask"}, f.states())
	f.later()
	require.Equal(t, 3, f.documents(), "never sent again by itself")
}

func TestRefusedSendIsForAPerson(t *testing.T) {
	f := newFixture(t)
	f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: http.StatusConflict})
	f.want("1", "ann@example.com")
	f.want("2", "not an address")
	f.passes()
	require.Equal(t, []string{"1 ask", "2 ask"}, f.states())
	require.NotEmpty(t, f.find("ref = '1'")[0].Note)
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
			f := newFixture(t)
			f.behind(func(to http.RoundTripper) http.RoundTripper { return replacing{to, replace} })
			f.lose(1, true)
			f.want("1", "ann@example.com")
			f.passes()
			f.later()
			require.Equal(t, []string{"1 open"}, f.states())
			require.Equal(t, 1, f.documents())
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

// What a list does not say counts only when the list is whole.
func TestListThatFailsProvesNothing(t *testing.T) {
	f := newFixture(t)
	f.lose(1, true)
	f.want("1", "ann@example.com")
	f.passes()
	f.passes() // sees the doubt
	remove := f.srv.Fail(signformstest.Fault{Operation: signforms.OpListRespondents, Status: http.StatusForbidden})
	f.srv.Advance(doubtTime)
	require.ErrorIs(t, f.Pass(t.Context()), signforms.ErrForbidden)
	require.Equal(t, []string{"1 sending"}, f.states())
	remove()
	f.passes()
	require.Equal(t, []string{"1 open"}, f.states())
	require.Equal(t, 1, f.documents())
}

// An event that comes while the send is in doubt is refused, and nothing of it is lost.
func TestEventBeforeItsSendIsRecorded(t *testing.T) {
	f := newFixture(t)
	f.lose(1, true)
	f.want("1", "ann@example.com")
	f.passes()
	documents := f.srv.Documents()
	require.NoError(t, f.srv.Signer(documents[0].ID, "ann@example.com").Sign())
	require.Error(t, f.look("ann@example.com"))
	f.later()
	require.Equal(t, []string{"1 signed"}, f.states())
}

// No event told of these documents.
func TestReconciliationFindsWhatNoWebhookTold(t *testing.T) {
	f := newFixture(t)
	for _, ref := range []string{"declined", "open", "signed"} {
		f.want(ref, ref+"@example.com")
	}
	f.passes()
	f.sign("signed")
	declined := f.find("ref = 'declined'")[0]
	require.NoError(t, f.srv.Signer(declined.Document, declined.Email).Decline(""))
	f.passes()
	require.Equal(t, []string{"declined open", "open open", "signed open"}, f.states())
	f.srv.Advance(24 * time.Hour)
	f.passes()
	require.Equal(t, []string{"declined closed", "open open", "signed signed"}, f.states())
}

// A PDF that cannot be had is tried again.
func TestPDFOfAnotherHost(t *testing.T) {
	f := newFixture(t)
	f.want("1", "ann@example.com")
	f.passes()
	f.sign("1")
	require.NoError(t, f.look("ann@example.com"))
	f.Hosts = []string{"https://files.example.com"}
	err := f.KeepPDFs(t.Context())
	require.ErrorIs(t, err, errNotListed)
	require.NotContains(t, err.Error(), f.srv.URL)
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	f.Hosts = []string{elsewhere.URL}
	for _, link := range []string{elsewhere.URL + "/token.pdf", elsewhere.URL + ".example.com/token.pdf", "://token", ""} {
		_, err := f.download(t.Context(), link)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "token")
	}
	f.Hosts = []string{f.srv.URL}
	require.NoError(t, f.KeepPDFs(t.Context()))
	_, err = f.PDF(t.Context(), "1")
	require.NoError(t, err)
}

func TestPDFThatIsNotWhole(t *testing.T) {
	f := newFixture(t)
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
		case "/endless": // a body that ends with the connection: nobody can tell whether it was cut off after an inner mark
			connection, out, err := w.(http.Hijacker).Hijack()
			if err == nil {
				io.WriteString(out, "HTTP/1.1 200 OK\r\n\r\n"+pdf)
				out.Flush()
				connection.Close()
			}
		case "/chunks":
			w.(http.Flusher).Flush()
			io.WriteString(w, pdf)
		case "/cut":
			io.WriteString(w, pdf[:12])
		case "/whole":
			io.WriteString(w, pdf)
		}
	}))
	defer files.Close()
	f.Hosts = []string{files.URL}
	for _, path := range []string{"/away", "/round", "/announced", "/endless", "/cut", "/empty"} {
		_, err := f.download(t.Context(), files.URL+path)
		require.Error(t, err, path)
		require.NotContains(t, err.Error(), "token")
	}
	require.Zero(t, asked)
	for _, path := range []string{"/near", "/whole", "/chunks"} {
		got, err := f.download(t.Context(), files.URL+path)
		require.NoError(t, err)
		require.Equal(t, pdf, string(got))
	}
}

// reminders returns how many reminders each address got.
func (f *fixture) reminders() map[string]int {
	to := map[string]int{}
	for _, mail := range f.srv.Messages() {
		if mail.Kind == "reminder" {
			to[mail.To]++
		}
	}
	return to
}

// Twelve offers are late at once. However often the program starts again, five are reminded, each once: the file keeps the limit.
func TestRemindersOverRestarts(t *testing.T) {
	f := newFixture(t)
	for n := range 12 {
		f.want(fmt.Sprint(n), fmt.Sprint(n, "@example.com"))
	}
	f.passes()
	f.srv.Advance(f.Overdue)
	f.srv.Fail(signformstest.Fault{Operation: signforms.OpRemind, Nth: 3, AfterWork: true, Reset: true})
	for range 20 {
		f.Offers = f.process(func(o *signforms.Options) {
			o.LimitStore = filestore.NewLimitStore(filepath.Join(f.folder, "reminders"))
		})
		err := f.Pass(t.Context())
		require.True(t, err == nil || errors.Is(err, signforms.ErrRateLimited), "%v", err)
	}
	to := f.reminders()
	require.Len(t, to, 5)
	for email, n := range to {
		require.Equal(t, 1, n, email)
	}
	for _, r := range f.srv.Requests() {
		require.NotEqual(t, http.StatusTooManyRequests, r.StatusCode)
	}
}

// A reminder that was not sent is tried again, and one to a document that is gone does not keep the others from theirs.
func TestRemindersThatWereNotSent(t *testing.T) {
	f := newFixture(t)
	f.want("1", "ann@example.com")
	f.want("2", "ben@example.com")
	f.passes()
	f.srv.Advance(f.Overdue)
	f.srv.Fail(signformstest.Fault{Operation: signforms.OpRemind, Times: 1, Status: http.StatusForbidden})
	require.ErrorIs(t, f.Pass(t.Context()), signforms.ErrForbidden)
	f.srv.Fail(signformstest.Fault{Operation: signforms.OpRemind, Times: 1, Status: http.StatusNotFound})
	f.passes()
	require.Equal(t, map[string]int{"ben@example.com": 1}, f.reminders())
	require.Len(t, f.find("reminded > 0"), 2)
}
