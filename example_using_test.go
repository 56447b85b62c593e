package signforms_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// sender is what the program under test needs of the client: an interface of its own.
type sender interface {
	Send(context.Context, signforms.TemplateSendParams) (*signforms.SendResult, error)
}

// fakeSender takes the place of client.Templates.
type fakeSender struct{ err error }

func (f fakeSender) Send(_ context.Context, p signforms.TemplateSendParams) (*signforms.SendResult, error) {
	if f.err != nil {
		return nil, f.err
	}
	return &signforms.SendResult{TemplateID: p.TemplateID, CreatedDocumentID: "6afac610c07043658fde1996"}, nil
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
	return "sent " + sent.CreatedDocumentID
}

// A fake without HTTP. What it returns as an error is a sentinel, or an *Error.
func Example_fake() {
	fmt.Println(sendOffer(context.Background(), fakeSender{}))
	fmt.Println(sendOffer(context.Background(), fakeSender{err: signforms.ErrOutcomeUnknown}))
	// Output:
	// sent 6afac610c07043658fde1996
	// ask somebody to look
}

// A service that calls inputs otherwise, counts pages from 0 and takes days. Its imitation in a test gets the same overrides.
func Example_endpoints() {
	endpoints := map[signforms.Operation]signforms.Endpoint{
		signforms.OpListDocuments: {PagesFromZero: true, TimeLayout: time.DateOnly, Names: map[string]string{"page": "pageNumber"},
			Values: map[string]map[string]string{"sortOrder": {"asc": "ascending", "desc": "descending"}}},
		signforms.OpSend: {Names: map[string]string{"receiversList": "receivers", "receiversList.roleTitle": "role"}},
	}
	srv, err := signformstest.Start(&signformstest.Options{Profile: signformstest.Profile{Endpoints: endpoints}})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	options := srv.ClientOptions() // for the real service: &signforms.Options{}
	options.Endpoints = endpoints
	client, err := signforms.New(srv.URL, srv.APIKey, options)
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Documents.List(context.Background(), signforms.DocumentListParams{Page: 1, SortOrder: signforms.OldestFirst,
		DateFrom: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)})
	fmt.Println(srv.Requests()[0].Query.Encode(), err)
	// Output: dateFrom=2026-11-20&documentType=PDF&pageNumber=0&sortOrder=ascending <nil>
}

// One scripted answer, through a mock transport that only this client uses.
func Example_httpmock() {
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder("GET", "https://api.example.com/get-documents", httpmock.NewStringResponder(200,
		`{"message":"ok","documents":[{"documentId":"602c2631-2d49-4647-a609-75331ebb0338","status":"NEW_STATUS"}],"documentsCount":1}`))
	client, err := signforms.New("https://api.example.com", "key", &signforms.Options{HTTPClient: &http.Client{Transport: mock}})
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
		HTTPClient: &http.Client{Transport: transport},
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = client
}
