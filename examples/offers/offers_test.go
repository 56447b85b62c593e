package offers

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/outbox"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// fixture is a service in memory, and a process that works on a database. Time is that of a synctest bubble.
type fixture struct {
	*testing.T
	*Offers
	srv      *signformstest.Server
	network  *signformstest.Network
	path     string
	template string
	stop     func() // ends the process
}

// bubble runs a test in a bubble, before a process runs.
func bubble(t *testing.T, test func(*fixture)) {
	path := filepath.Join(t.TempDir(), "offers.db")
	synctest.Test(t, func(t *testing.T) {
		network := signformstest.NewNetwork()
		defer network.Close()
		srv := signformstest.NewServer(t, &signformstest.Options{Network: network})
		defer srv.Close()
		template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
		f := &fixture{T: t, srv: srv, network: network, path: path, template: template, stop: func() {}}
		defer func() { f.stop() }()
		test(f)
	})
}

// start starts a process. Its changes to the options may be nil.
func (f *fixture) start(client func(*signforms.Options), box func(*outbox.Options)) {
	o := f.srv.ClientOptions()
	if client != nil {
		client(o)
	}
	c, err := signforms.New(f.srv.URL, f.srv.APIKey, o)
	require.NoError(f, err)
	pragmas := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(10000)"}}
	db, err := sql.Open("sqlite", "file:"+f.path+"?"+pragmas.Encode())
	require.NoError(f, err)
	options := outbox.Options{Logger: slog.New(slog.DiscardHandler), PollInterval: time.Hour}
	if box != nil {
		box(&options)
	}
	f.Offers, err = Open(f.Context(), db, c, options)
	require.NoError(f, err)
	f.Hosts, f.files = []string{f.srv.URL}, f.network.HTTPClient().Transport
	ctx, cancel := context.WithCancel(f.Context())
	ended := make(chan error, 1)
	run := f.Box.Run
	go func() { ended <- run(ctx) }()
	f.stop = func() {
		cancel()
		require.NoError(f, <-ended)
		db.Close()
	}
}

func (f *fixture) want(ref, email string) {
	require.NoError(f, f.Add(f.Context(), Offer{Ref: ref, Template: f.template, Role: "Buyer", Name: "Ann", Email: email}))
}

func (f *fixture) find(where string) []Row {
	rows, err := f.Find(f.Context(), where)
	require.NoError(f, err)
	return rows
}

func (f *fixture) states() (states []string) {
	for _, o := range f.find("TRUE") {
		states = append(states, o.Ref+" "+string(o.State)+" "+string(o.Status))
	}
	return states
}

func (f *fixture) sign(ref string) {
	o := f.find("ref = '" + ref + "'")[0]
	require.NoError(f, f.srv.Signer(o.Document, o.Email).Sign())
}

func TestLifeOfAnOffer(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.start(nil, nil)
		v, err := webhook.NewVerifier([]string{f.srv.WebhookSecret}, nil)
		require.NoError(f, err)
		f.srv.AddWebhook(signformstest.Webhook{Event: signformstest.FamilyTemplateResponse,
			URL: f.network.Serve("app.test", webhook.NewHandler(v, f.Box.Funcs(webhook.Funcs{}), nil))})
		f.want("1", "ann@example.com")
		f.want("1", "ann@example.com")
		require.ErrorIs(f, f.Add(f.Context(), Offer{Ref: "1", Template: f.template, Role: "Buyer", Name: "Ben", Email: "ben@example.com"}), outbox.ErrKeyUsed)
		time.Sleep(time.Minute)
		require.Equal(f, []string{"1 sent PENDING"}, f.states())
		f.sign("1")
		time.Sleep(time.Minute)
		require.Equal(f, []string{"1 ended SIGNED"}, f.states())
		_, err = f.PDF(f.Context(), "1")
		require.ErrorIs(f, err, sql.ErrNoRows)
		require.NoError(f, f.KeepPDFs(f.Context()))
		pdf, err := f.PDF(f.Context(), "1")
		require.NoError(f, err)
		require.Contains(f, string(pdf), "%PDF-")
	})
}

func TestRefusedOffer(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.start(nil, nil)
		f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: http.StatusConflict})
		f.want("1", "ann@example.com")
		time.Sleep(time.Minute)
		require.Equal(f, []string{"1 failed "}, f.states())
		require.NotEmpty(f, f.find("ref = '1'")[0].Note)
		invalid := Offer{Ref: "2", Template: f.template, Role: "Buyer", Name: "Ben", Email: "not an address"}
		require.ErrorIs(f, f.Add(f.Context(), invalid), signforms.ErrInvalid)
		require.Len(f, f.states(), 1, "the row is not committed either")
	})
}

// A PDF of another host is not asked for, and one that cannot be had is tried again.
func TestPDFOfAnotherHost(t *testing.T) {
	bubble(t, func(f *fixture) {
		f.start(nil, nil)
		f.want("1", "ann@example.com")
		time.Sleep(time.Minute)
		f.sign("1")
		time.Sleep(25 * time.Hour)
		require.Equal(f, []string{"1 ended SIGNED"}, f.states(), "without an event")
		f.Hosts = []string{"https://files.example.com"}
		err := f.KeepPDFs(f.Context())
		require.ErrorIs(f, err, errNotListed)
		require.NotContains(f, err.Error(), f.srv.URL)
		f.Hosts = []string{f.srv.URL}
		require.NoError(f, f.KeepPDFs(f.Context()))
		_, err = f.PDF(f.Context(), "1")
		require.NoError(f, err)
	})
}

func TestPDFThatIsNotWhole(t *testing.T) {
	f := &Offers{}
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
	for _, link := range []string{files.URL + ".example.com/token.pdf", "://token", ""} {
		_, err := f.download(t.Context(), link)
		require.ErrorIs(t, err, errNotListed)
	}
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
