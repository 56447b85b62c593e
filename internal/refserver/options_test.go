package refserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestOptions_invalid(t *testing.T) {
	for _, row := range []struct {
		want string
		opts refserver.Options
	}{
		{want: "Options.ReminderLimit: Requests -1 and Window 15m0s must be more than 0, or 0 for the default", opts: refserver.Options{ReminderLimit: refserver.ReminderLimit{Requests: -1}}},
		{want: "Options.PublicURL: \"sandbox.example.com\" must be like https://sandbox.example.com", opts: refserver.Options{PublicURL: "sandbox.example.com"}},
		{want: "Options.WebhookSecret: must hold visible ASCII characters and no spaces", opts: refserver.Options{WebhookSecret: "a secret"}},
		{want: "Options.Keep: {Requests:0 Deliveries:-1 Messages:0 Audit:0} must hold no negative number", opts: refserver.Options{Keep: refserver.Keep{Deliveries: -1}}},
		{want: "Options.Profile.Timestamps: 7 is not one of its constants, which end at 2", opts: refserver.Options{Profile: refserver.Profile{Timestamps: 7}}},
		{want: "Options.Profile.PageSize: -1 is not 1 or more, or 0 for the default", opts: refserver.Options{Profile: refserver.Profile{PageSize: -1}}},
		{want: "Options.Profile.RefusalStatus: 200 is not 400 to 499, or 0 for the default", opts: refserver.Options{Profile: refserver.Profile{RefusalStatus: 200}}},
		{want: "Options.Profile.MaxLimit: -1 is not 1 or more, or 0 for the default", opts: refserver.Options{Profile: refserver.Profile{MaxLimit: -1}}},
		{want: "Options.Profile.KeyStatus: 500 is not 400 to 499, or 0 for the default", opts: refserver.Options{Profile: refserver.Profile{KeyStatus: 500}}},
		{want: "Options.Start: 1969-12-31 is not from 1970-01-01 to 2262-04-11", opts: refserver.Options{Start: time.Unix(-1, 0).UTC()}},
		{want: "Options.Start: 2262-04-12 is not from 1970-01-01 to 2262-04-11", opts: refserver.Options{Start: time.Date(2262, 4, 12, 0, 0, 0, 0, time.UTC)}},
	} {
		t.Run(row.want, func(t *testing.T) {
			_, err := refserver.Start(&row.opts)
			require.EqualError(t, err, row.want)
		})
	}
}

func TestOptions_timestampFormats(t *testing.T) {
	start := time.Date(2026, 11, 20, 12, 0, 0, 7_000_000, time.UTC)
	for _, row := range []struct {
		format refserver.TimestampFormat
		want   string
	}{
		{format: refserver.UnixSeconds, want: "1795176000"},
		{format: refserver.UnixMilliseconds, want: "1795176000007"},
		{format: refserver.RFC3339, want: "2026-11-20T12:00:00.007Z"},
	} {
		t.Run(fmt.Sprint(row.format), func(t *testing.T) {
			r := newReceiver(t)
			srv, _, submit := newPair(t, &refserver.Options{
				Start: start, VirtualTimestamps: true, Profile: refserver.Profile{Timestamps: row.format},
			}, r.URL)
			submit()
			require.NoError(t, srv.Settle(t.Context()))
			require.Equal(t, row.want, r.all()[0].header.Get("x-timestamp"))
			require.True(t, r.all()[0].genuine(srv.WebhookSecret))
		})
	}
}

func TestOptions_reminderLimits(t *testing.T) {
	for _, c := range []struct {
		name     string
		limit    refserver.ReminderLimit
		advances []time.Duration // before each further reminder
		want     []int
	}{
		{name: "documented", limit: refserver.ReminderLimit{}, advances: make([]time.Duration, 5), want: []int{200, 200, 200, 200, 200, 429}},
		{name: "one a second", limit: refserver.ReminderLimit{Requests: 1, Window: time.Second},
			advances: []time.Duration{999 * time.Millisecond, time.Millisecond}, want: []int{200, 429, 200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := servicetest.Start(t, &refserver.Options{ReminderLimit: c.limit, Start: start})
			doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
			var got []int
			for _, d := range append([]time.Duration{0}, c.advances...) {
				srv.Advance(d)
				status, _ := call(t, srv, "POST", "/send-reminder?documentType=PDF&documentId="+doc, "")
				got = append(got, status)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestOptions_Profile(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Profile: refserver.Profile{
		PageSize: 1, InProgress: "IN_PROGRESS", RefusalStatus: 422, NoPagination: true, CountPage: true,
	}})
	var doc string
	for range 3 {
		doc = srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	}
	_, answer := call(t, srv, "GET", "/get-documents", "")
	require.Len(t, answer["documents"], 1)
	require.NotContains(t, answer, "pagination")
	require.EqualValues(t, 1, answer["documentsCount"])
	record := answer["documents"].([]any)[0].(map[string]any)
	require.Equal(t, "IN_PROGRESS", record["status"])
	require.NoError(t, srv.Signer(doc, "ann@example.com").Sign())
	status, _ := call(t, srv, "POST", "/void-document?documentType=PDF&documentId="+doc, "")
	require.Equal(t, 422, status)
}

func TestServer_ofAProgram(t *testing.T) {
	endpoint := newReceiver(t)
	srv := servicetest.Start(t, &refserver.Options{
		Addr: "localhost:0", PublicURL: "https://sandbox.example.com/", APIKey: "key", WorkspaceID: "workspace", WebhookSecret: "secret",
		Middleware: func(service http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/hello" {
					w.WriteHeader(http.StatusTeapot)
					return
				}
				service.ServeHTTP(w, r)
			})
		},
	})
	require.Equal(t, []string{"https://sandbox.example.com", "key", "workspace", "secret"},
		[]string{srv.PublicURL, srv.APIKey, srv.WorkspaceID, srv.WebhookSecret})
	client, err := signforms.New(srv.URL, "key", &signforms.Options{WorkspaceID: "workspace"})
	require.NoError(t, err)
	srv.AddWebhook(refserver.Webhook{URL: endpoint.URL, Event: refserver.SignatureCompleted})
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, srv.Signer(doc, "ann@example.com").Sign())
	require.NoError(t, srv.Settle(t.Context()))
	got := endpoint.all()[0]
	require.True(t, got.genuine("secret"))
	require.Contains(t, string(got.body), `"documentUrl":"https://sandbox.example.com/documents/`)
	page, err := client.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Equal(t, "https://sandbox.example.com/finished/"+doc+".pdf", page.Items[0].FinishedPDFURL)
	require.Contains(t, string(srv.Messages()[0].Link), "https://sandbox.example.com/sign/")

	resp, err := srv.HTTPClient().Get(srv.URL + "/hello")
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusTeapot, resp.StatusCode)
}

func TestOptions_Addr_inUse(t *testing.T) {
	srv := servicetest.Start(t, nil)
	_, err := refserver.Start(&refserver.Options{Addr: strings.TrimPrefix(srv.URL, "http://")})
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	everywhere, err := refserver.Start(&refserver.Options{Addr: ":0"})
	require.NoError(t, err)
	defer everywhere.Close()
	require.Regexp(t, `^http://127\.0\.0\.1:\d+$`, everywhere.URL)
}

func TestProfile_readingsAsWords(t *testing.T) {
	const text = `{"ErrorLayout":"data-error","Timestamps":"rfc3339"}`
	last := refserver.Profile{ErrorLayout: refserver.LayoutDataError, Timestamps: refserver.RFC3339}
	var read refserver.Profile
	require.NoError(t, json.Unmarshal([]byte(text), &read))
	require.Equal(t, last, read)
	written, err := json.Marshal(last)
	require.NoError(t, err)
	var again refserver.Profile
	require.NoError(t, json.Unmarshal(written, &again))
	require.Equal(t, last, again)
	require.ErrorContains(t, json.Unmarshal([]byte(`{"ErrorLayout":"later"}`), &read), `"later" is not one of message, error,`)
}
