package signforms_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// The examples run against the reference service. A program would call New:
//
//	client, err := signforms.New("https://api.example.com", os.Getenv("SIGNFORMS_API_KEY"), nil)
func startExample() (*signformstest.Server, *signforms.Client) {
	srv, err := signformstest.Start(&signformstest.Options{Seed: 1, StartTime: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		log.Fatal(err)
	}
	return srv, srv.Client()
}

// Send a template to the people who fill its roles, and read what they have done.
func Example() {
	srv, client := startExample()
	defer srv.Close()
	templateID := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}, {Title: "Seller"}}})

	ctx := context.Background()
	sent, err := client.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: templateID,
		Receivers: []signforms.Receiver{
			{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"},
			{Name: "Ben", Email: "ben@example.com", RoleTitle: "Seller", Message: "After Ann, please."},
		},
		Mail:      signforms.Mail{Subject: "Our offer", Message: "Please sign until Friday."},
		Variables: []signforms.Variable{{Name: "[price]", Value: "1,250.00"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sent.Message)
	fmt.Println("Ann's link:", sent.Signers[0].SentURL) // string(sent.Signers[0].SentURL) is the link itself

	if err := srv.Signer(sent.DocumentID, "ann@example.com").Sign(); err != nil { // what Ann does
		log.Fatal(err)
	}
	respondent, err := client.Respondents.Get(ctx, sent.DocumentID)
	if err != nil {
		log.Fatal(err)
	}
	for _, signer := range respondent.Signers {
		fmt.Println(signer.RoleTitle, signer.Name, signer.Status)
	}
	// Output:
	// Document sent successfully
	// Ann's link: [redacted]
	// Buyer Ann SIGNED
	// Seller Ben PENDING
}

// All walks every page. Records that are acted on are collected first: what leaves the filter shifts the list.
func ExampleDocumentsService_All() {
	srv, client := startExample()
	defer srv.Close()
	for _, name := range []string{"Lease", "Offer", "Supply"} {
		srv.AddDocument(signformstest.Document{Name: name, Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
		srv.Advance(24 * time.Hour)
	}

	ctx := context.Background()
	var old []signforms.DocumentRef
	for document, err := range client.Documents.All(ctx, signforms.DocumentListParams{Status: signforms.StatusPending}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(document.CreatedAt.Format(time.DateOnly), document.Name)
		if srv.Now().Sub(document.CreatedAt) > 48*time.Hour {
			old = append(old, document.Ref())
		}
	}
	for _, ref := range old {
		result, err := client.Documents.Void(ctx, ref)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Message)
	}
	// Output:
	// 2026-11-22 Supply
	// 2026-11-21 Offer
	// 2026-11-20 Lease
	// Document voided successfully
}

// Voiding a document again is no error; voiding a signed one is.
func ExampleDocumentsService_Void() {
	srv, client := startExample()
	defer srv.Close()
	add := func(name string) string {
		return srv.AddDocument(signformstest.Document{Name: name, Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	}
	lease, offer := add("Lease"), add("Offer")
	if err := srv.Signer(offer, "ann@example.com").Sign(); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	for _, id := range []string{lease, lease, offer} {
		result, err := client.Documents.Void(ctx, signforms.PDFDocument(id))
		switch {
		case errors.Is(err, signforms.ErrRefused):
			fmt.Println(err)
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(result.Message, result.AlreadyVoided)
		}
	}
	// Output:
	// Document voided successfully false
	// Document is already voided true
	// void document: 409 invalid_status: A document that is SIGNED cannot be voided
}

// Send a form, and read the responses to it.
func ExampleFormsService_Send() {
	srv, client := startExample()
	defer srv.Close()
	formID := srv.AddForm(signformstest.Form{Title: "Intake", Questions: []signformstest.Question{{Question: "Your name?", Required: true}}})

	ctx := context.Background()
	_, err := client.Forms.Send(ctx, signforms.FormSendParams{
		FormID:    formID,
		Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := srv.SubmitForm(formID, signformstest.Submission{Answers: map[string]string{"Your name?": "Ann"}}); err != nil { // what Ann does
		log.Fatal(err)
	}
	for response, err := range client.FormResponses.All(ctx, signforms.FormResponseListParams{FormID: formID}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(response.Answers[0].Question, response.Answers[0].Answer)
	}
	// Output:
	// Your name? Ann
}

// Branch on the sentinel that an error matches. The fields of Error have the details.
func ExampleError() {
	srv, client := startExample()
	defer srv.Close()

	_, err := client.Documents.Get(context.Background(), "0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11")
	var e *signforms.Error
	switch {
	case err == nil:
	case errors.Is(err, signforms.ErrNotFound):
		fmt.Println("no such document:", err)
	case errors.Is(err, signforms.ErrRateLimited) && errors.As(err, &e):
		fmt.Println("try again in", e.RetryAfter)
	case errors.Is(err, signforms.ErrUnavailable):
		fmt.Println("try again later:", err)
	default:
		log.Fatal(err)
	}

	_, err = client.Documents.List(context.Background(), signforms.DocumentListParams{DocumentID: "4711", Limit: 500})
	if errors.As(err, &e) {
		for _, field := range e.Fields {
			fmt.Println(field)
		}
	}
	// Output:
	// no such document: get document: not found (200): the service has no record with this id
	// DocumentID must be a UUID such as 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11
	// Limit must be from 1 to 100 (0 means the default)
}
