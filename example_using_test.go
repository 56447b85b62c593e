package signforms_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// sender is what the program under test needs of the client: an interface of its own.
type sender interface {
	Send(context.Context, signforms.TemplateSendParams) (*signforms.TemplateSendResult, error)
}

// fakeSender takes the place of client.Templates.
type fakeSender struct{ err error }

func (f fakeSender) Send(_ context.Context, p signforms.TemplateSendParams) (*signforms.TemplateSendResult, error) {
	if f.err != nil {
		return nil, f.err
	}
	return &signforms.TemplateSendResult{TemplateID: p.TemplateID, DocumentID: "6afac610c07043658fde1996"}, nil
}

// sendOffer is the code under test.
func sendOffer(ctx context.Context, templates sender) string {
	sent, err := templates.Send(ctx, signforms.TemplateSendParams{TemplateID: "65afe90c-6eab-4089-8a6f-5b870943305f"})
	switch {
	case errors.Is(err, signforms.ErrOutcomeUnknown):
		return "ask somebody to look"
	case err != nil:
		return "failed: " + err.Error()
	}
	return "sent " + sent.DocumentID
}

// A fake without HTTP. Its errors are sentinels, or an *Error.
func Example_fake() {
	fmt.Println(sendOffer(context.Background(), fakeSender{}))
	fmt.Println(sendOffer(context.Background(), fakeSender{err: signforms.ErrOutcomeUnknown}))
	// Output:
	// sent 6afac610c07043658fde1996
	// ask somebody to look
}

// renaming is a transport for a service that calls an input of a query otherwise.
type renaming struct {
	http.RoundTripper
	ours, theirs string
}

func (t renaming) RoundTrip(r *http.Request) (*http.Response, error) {
	if query := r.URL.Query(); query.Has(t.ours) {
		query[t.theirs] = query[t.ours]
		query.Del(t.ours)
		r = r.Clone(r.Context()) // a transport must not change the request that it was given
		r.URL.RawQuery = query.Encode()
	}
	return t.RoundTripper.RoundTrip(r)
}

// The number of a page is called pageNumber by this service.
func Example_renamedInput() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.URL.RawQuery)
		fmt.Fprint(w, `{"documents":[]}`)
	}))
	defer service.Close()
	client, err := signforms.New(service.URL, "key", &signforms.Options{
		Transport: renaming{http.DefaultTransport, "page", "pageNumber"},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Documents.List(context.Background(), signforms.DocumentListParams{Page: 2})
	fmt.Println(err)
	// Output:
	// documentType=PDF&pageNumber=2
	// <nil>
}

// The mock transport has one scripted response, and only this client uses it.
func Example_httpmock() {
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder("GET", "https://api.example.com/get-documents", httpmock.NewStringResponder(200,
		`{"message":"ok","documents":[{"documentId":"602c2631-2d49-4647-a609-75331ebb0338","status":"NEW_STATUS"}],"documentsCount":1}`))
	client, err := signforms.New("https://api.example.com", "key", &signforms.Options{Transport: mock})
	if err != nil {
		log.Fatal(err)
	}
	page, err := client.Documents.List(context.Background(), signforms.DocumentListParams{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Items[0].Status)
	// Output: NEW_STATUS
}

// A proxy of its own, and a certificate authority beside those of the system.
func Example_proxy() {
	authorities, err := x509.SystemCertPool()
	if err != nil {
		log.Fatal(err)
	}
	private, err := os.ReadFile("company-ca.pem")
	if err != nil {
		log.Fatal(err)
	}
	if !authorities.AppendCertsFromPEM(private) {
		log.Fatal("company-ca.pem holds no certificate")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.example.com:3128"})
	transport.TLSClientConfig = &tls.Config{RootCAs: authorities}
	client, err := signforms.New(os.Getenv("SIGNFORMS_BASE_URL"), os.Getenv("SIGNFORMS_API_KEY"), &signforms.Options{
		Transport: transport,
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = client
}

// After ErrOutcomeUnknown, find out whether the document was made before it is sent again. Here Ann got the same template just
// before, so the program leaves out the documents that it has recorded.
func Example_outcomeUnknown() {
	srv, client := startExample()
	defer srv.Close()
	templateID := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	params := signforms.TemplateSendParams{
		TemplateID: templateID,
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "Ann@example.com", RoleTitle: "Buyer"}},
	}
	recorded := map[string]bool{} // stands for a table of all documents that this program sent
	known := func(documentID string) bool { return recorded[documentID] }
	send := func(what string) {
		sent, err := client.Templates.Send(context.Background(), params)
		switch {
		case errors.Is(err, signforms.ErrOutcomeUnknown):
			id, err := findSent(context.Background(), client, time.Now(), params, known)
			fmt.Println(what+":", id != "", err)
			recorded[id] = id != ""
		case err != nil:
			log.Fatal(err)
		default:
			recorded[sent.DocumentID] = true
			fmt.Println(what+":", "sent")
		}
	}
	send("an earlier offer")
	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 1, AfterWork: true, Reset: true})
	send("an answer that gets lost")
	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 1, Reset: true})
	send("a request that gets lost")
	fmt.Println("invitations:", len(srv.Messages()))
	// Output:
	// an earlier offer: sent
	// an answer that gets lost: true <nil>
	// a request that gets lost: false look again later: the request may still arrive
	// invitations: 2
}

// arrives is how long after a send its request may still arrive: Options.AttemptTimeout, here its default, and one minute.
const arrives = 30*time.Second + time.Minute

// findSent looks for the document of a send that ended without an outcome. It returns "" and no error if there is none: then the
// template may be sent again. ended has a monotonic clock; after a restart, give the time of the start.
func findSent(ctx context.Context, client *signforms.Client, ended time.Time, p signforms.TemplateSendParams,
	known func(documentID string) bool) (documentID string, err error) {
	began := time.Now()
	candidates, err := client.Respondents.FindSent(ctx, p, known)
	switch {
	case err != nil:
		return "", err
	case len(candidates) > 1:
		return "", fmt.Errorf("%d documents may be this send: let a person decide", len(candidates))
	case len(candidates) == 1:
		return candidates[0].ID, nil
	case began.Sub(ended) < arrives:
		return "", errors.New("look again later: the request may still arrive")
	}
	return "", nil
}

// Log every attempt with slog.
func ExampleOptions_logging() {
	srv, _ := startExample()
	defer srv.Close()
	srv.Fail(signformstest.Fault{Operation: signforms.OpListDocuments, Nth: 1, Status: 503, Body: `{"message":"Down for maintenance"}`})
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))

	client, err := signforms.New(srv.URL, srv.APIKey, &signforms.Options{
		RetryWaitMin: time.Millisecond, // the default, 500 ms, would delay an example for nothing
		OnAttempt: func(ctx context.Context, a signforms.Attempt) {
			level := slog.LevelDebug
			if a.Err != nil || a.StatusCode >= 500 || a.Number > 1 {
				level = slog.LevelInfo
			}
			logger.LogAttrs(ctx, level, "signforms", slog.String("operation", string(a.Operation)), slog.Int("attempt", a.Number),
				slog.Int("status", a.StatusCode), slog.Duration("took", a.Duration), slog.String("request_id", a.RequestID), slog.Any("err", a.Err))
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.Documents.List(context.Background(), signforms.DocumentListParams{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// level=INFO msg=signforms operation="list documents" attempt=1 status=503 err=<nil>
	// level=INFO msg=signforms operation="list documents" attempt=2 status=200 err=<nil>
}

// withoutTime leaves out what differs from run to run.
func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == "took" || a.Key == "request_id" {
		return slog.Attr{}
	}
	return a
}

// Call what this package has no method for.
func ExampleClient_Do() {
	srv, client := startExample()
	defer srv.Close()

	var counts struct {
		Documents int `json:"documentsCount"`
	}
	_, err := client.Do(context.Background(), signforms.Request{
		Path: "/get-documents", Query: url.Values{"documentType": {"PDF"}, "limit": {"1"}},
	}, &counts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(counts.Documents)
	// Output: 0
}

// Behind net/http's router. Others wrap the same handler.
func Example_router() {
	verifier, err := webhook.NewVerifier([]string{os.Getenv("SIGNFORMS_WEBHOOK_SECRET")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /webhook", webhook.NewHandler(verifier, webhook.Funcs{
		TemplateSigned: func(_ context.Context, e *webhook.TemplateSigned) error {
			log.Printf("%q signed %q", e.SignedBy.RoleTitle, e.DocumentName)
			return nil
		},
	}, nil))
	server := &http.Server{Addr: ":8080", Handler: mux, ReadTimeout: 20 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// A signed sample for a receiver on this machine.
func Example_sample() {
	secret := os.Getenv("SIGNFORMS_WEBHOOK_SECRET")
	delivery := webhooktest.NewRequest("http://localhost:8080/webhook", secret, time.Now(), webhooktest.Sample(webhook.TypeTemplateResponse))
	resp, err := http.DefaultClient.Do(delivery)
	if err != nil {
		log.Fatal(err)
	}
	resp.Body.Close()
}
