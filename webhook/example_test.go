package webhook_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// A receiver: one function for each event of interest.
func ExampleNewHandler() {
	verifier, err := webhook.NewVerifier([]string{os.Getenv("SIGNFORMS_WEBHOOK_SECRET")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	handler := webhook.NewHandler(verifier, webhook.Funcs{
		FormResponse: func(ctx context.Context, ev *webhook.FormResponse) error {
			return saveAnswers(ctx, ev.FormID, ev.Answers)
		},
		TemplateResponse: func(ctx context.Context, ev *webhook.TemplateResponse) error {
			// DocumentID is the template's. The signers tell one document from the others that were made of it.
			name := ev.DocumentID
			for _, s := range ev.Signers {
				name += "-" + s.ID
			}
			return fetchPDF(ctx, name+".pdf", ev.FinishedPDFURL)
		},
	}, nil)
	http.Handle("POST /webhook", handler)

	// The time-outs bound what a sender that is slow on purpose can hold.
	server := &http.Server{Addr: ":8080", ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 20 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func saveAnswers(context.Context, string, []webhook.FormAnswer) error { return nil }
func fetchPDF(context.Context, string, string) error                  { return nil }

// A test of your receiver needs neither network nor service.
func Example_testing() {
	const secret = "whsec_of_the_test"
	clock := webhooktest.NewClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	verifier, err := webhook.NewVerifier([]string{secret}, &webhook.VerifierOptions{Now: clock.Now})
	if err != nil {
		log.Fatal(err)
	}
	handler := webhook.NewHandler(verifier, webhook.Funcs{
		FormResponse: func(_ context.Context, ev *webhook.FormResponse) error {
			fmt.Println("form response with", len(ev.Answers), "answers")
			return nil
		},
	}, nil)
	deliver := func(payload []byte) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, webhooktest.NewRequest("http://example.com/webhook", secret, clock.Now(), payload))
		fmt.Println(w.Code, w.Body)
	}
	deliver(webhooktest.Sample(webhook.TypeFormResponse))
	clock.Advance(10 * time.Hour)
	deliver(webhooktest.Sample(webhook.TypeFormResponse)) // the same once more
	deliver(webhooktest.Payload(&webhook.FormResponse{FormID: "intake", Answers: []webhook.FormAnswer{{ID: "q1", Answer: "yes"}}}))
	// Output:
	// form response with 3 answers
	// 200 {"status":"ok"}
	// 200 {"status":"duplicate"}
	// form response with 1 answers
	// 200 {"status":"ok"}
}

// Your own handler behind the middleware, in a chain as routers such as chi build it.
func ExampleVerifier_Middleware() {
	const secret = "whsec_of_the_example"
	verifier, err := webhook.NewVerifier([]string{secret}, nil)
	if err != nil {
		log.Fatal(err)
	}
	announce := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Println(r.Method, r.URL.Path)
			next.ServeHTTP(w, r)
		})
	}
	handler := chain(announce, verifier.Middleware(nil))(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		events, err := webhook.EventsFromContext(r.Context())
		if err != nil {
			http.Error(w, "not a delivery", http.StatusBadRequest)
			return
		}
		for _, ev := range events {
			switch ev := ev.(type) {
			case *webhook.TemplateSigned:
				fmt.Println(ev.SignedBy.RoleTitle, "signed")
			default:
				fmt.Println("ignored", ev.EventType())
			}
		}
		io.WriteString(w, `{"status":"ok"}`)
	}))

	genuine := webhooktest.NewRequest("http://example.com/webhook", secret, time.Now(), webhooktest.Sample(webhook.TypeTemplateSigned))
	forged := webhooktest.NewRequest("http://example.com/webhook", "a guess", time.Now(), webhooktest.Sample(webhook.TypeTemplateSigned))
	for _, r := range []*http.Request{genuine, forged} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// POST /webhook
	// Client signed
	// 200
	// POST /webhook
	// 401
}

// chain is what the Use method of most routers amounts to.
func chain(middlewares ...func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		for _, m := range slices.Backward(middlewares) {
			h = m(h)
		}
		return h
	}
}

// While a secret is exchanged for another, both are accepted. Functions see which of them signed.
func ExampleNewVerifier_rotation() {
	verifier, err := webhook.NewVerifier([]string{"whsec_new_of_november", "whsec_old_of_may"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	handler := webhook.NewHandler(verifier, webhook.Funcs{Default: func(ctx context.Context, ev webhook.Event) error {
		if delivery, _ := webhook.VerifiedFromContext(ctx); delivery.SecretIndex > 0 {
			fmt.Println(ev.EventType(), "was signed with the old secret")
		}
		return nil
	}}, nil)
	for _, secret := range []string{"whsec_new_of_november", "whsec_old_of_may", "whsec_forgotten"} {
		r := webhooktest.NewRequest("http://example.com/webhook", secret, time.Now(), webhooktest.Payload(&webhook.FormResponse{FormID: secret}))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 200
	// new_form_response was signed with the old secret
	// 200
	// 401
}

// A handler tells what went wrong and what became of each event, and remembers more events than by default. Several
// processes behind one address need a store that they share, an implementation of ReplayStore of its own.
func ExampleHandlerOptions() {
	const secret = "whsec_of_the_example"
	verifier, err := webhook.NewVerifier([]string{secret}, nil)
	if err != nil {
		log.Fatal(err)
	}
	attempts := 0
	handler := webhook.NewHandler(verifier, webhook.Funcs{
		FormResponse: func(context.Context, *webhook.FormResponse) error {
			if attempts++; attempts == 1 {
				return errors.New("database is restarting")
			}
			return nil
		},
		SignatureCompleted: func(context.Context, *webhook.SignatureCompleted) error {
			return webhook.Permanent(errors.New("no such customer")) // delivering it again would not help
		},
	}, &webhook.HandlerOptions{
		ReplayStore: webhook.NewMemoryReplayStore(&webhook.MemoryReplayOptions{MaxEvents: 1_000_000}),
		OnError:     func(_ context.Context, err error) { fmt.Println("error:", err) },
	})
	payload := webhooktest.Payload(&webhook.FormResponse{FormResponseID: "r1"}, &webhook.SignatureCompleted{FinishedPDFURL: "https://example.com/1.pdf"})
	for range 3 {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, webhooktest.NewRequest("http://example.com/webhook", secret, time.Now(), payload))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// error: event 0 (new_form_response r1): database is restarting
	// error: event 1 (new_signature_pdf_completed): no such customer
	// 500 {"status":"failed"}
	// 200 {"status":"ok"}
	// 200 {"status":"duplicate"}
}

func ExampleDiagnose() {
	body := []byte(`[{"webhookEvent":"new_form_response"}]`)
	header := webhook.Sign("whsec_from_a_file", time.Now(), body)
	fmt.Println(webhook.Diagnose([]string{"whsec_from_a_file\n"}, header, body))
	// Output:
	// The signature would match the secret without what stands around it.
}

// An API gateway hands over a map of headers, whose keys may be in any case, and a body that may be in base64. A
// platform such as Lambda takes the function that this builds.
func ExampleHandler_Receive() {
	type gatewayEvent struct {
		Headers         map[string]string `json:"headers"`
		Body            string            `json:"body"`
		IsBase64Encoded bool              `json:"isBase64Encoded"`
	}
	type gatewayAnswer struct {
		StatusCode int               `json:"statusCode"`
		Headers    map[string]string `json:"headers"`
		Body       string            `json:"body"`
	}
	const secret = "whsec_of_the_example"
	verifier, err := webhook.NewVerifier([]string{secret}, nil)
	if err != nil {
		log.Fatal(err)
	}
	handler := webhook.NewHandler(verifier, webhook.Funcs{
		FormResponse: func(_ context.Context, ev *webhook.FormResponse) error {
			fmt.Println("form", ev.FormID, "was filled in")
			return nil
		},
	}, nil)
	receive := func(ctx context.Context, event gatewayEvent) (gatewayAnswer, error) {
		header := http.Header{}
		for key, value := range event.Headers {
			header.Add(key, value) // puts the key into the case that is looked for
		}
		body := []byte(event.Body)
		if event.IsBase64Encoded {
			var err error
			if body, err = base64.StdEncoding.DecodeString(event.Body); err != nil {
				return gatewayAnswer{}, err
			}
		}
		status, answer := handler.Receive(ctx, header, body)
		return gatewayAnswer{status, map[string]string{"Content-Type": "application/json"}, string(answer)}, nil
	}

	payload := []byte(`[{"webhookEvent":"new_form_response","formId":"intake"}]`)
	signed := webhook.Sign(secret, time.Now(), payload)
	answer, err := receive(context.Background(), gatewayEvent{
		Headers: map[string]string{
			"x-signature": signed.Get(webhook.SignatureHeader),
			"x-timestamp": signed.Get(webhook.TimestampHeader),
		},
		Body:            base64.StdEncoding.EncodeToString(payload),
		IsBase64Encoded: true,
	})
	fmt.Println(answer.StatusCode, answer.Body, err)
	// Output:
	// form intake was filled in
	// 200 {"status":"ok"} <nil>
}

// A program that stores deliveries first and processes them later needs the parts of a Handler, each by itself.
func ExampleFuncs_Dispatch() {
	const secret = "whsec_of_the_example"
	verifier, err := webhook.NewVerifier([]string{secret}, nil)
	if err != nil {
		log.Fatal(err)
	}
	body := []byte(`[{"webhookEvent":"new_form_response","formId":"intake"}]`)
	events, err := verifier.Events(webhook.Sign(secret, time.Now(), body), body)
	if err != nil {
		log.Fatal(err)
	}
	queue := map[webhook.ReplayKey]string{} // a table with a unique key, in earnest
	for i, key := range webhook.ReplayKeys(events) {
		queue[key] = string(events[i].Raw())
	}

	funcs := webhook.Funcs{FormResponse: func(_ context.Context, ev *webhook.FormResponse) error {
		return webhook.Permanent(errors.New("form " + ev.FormID + " is not ours"))
	}}
	for _, stored := range queue {
		events, err := webhook.Parse([]byte(stored))
		if err != nil {
			log.Fatal(err)
		}
		err = funcs.Dispatch(context.Background(), events[0])
		fmt.Println(err, "- try again:", err != nil && !webhook.IsPermanent(err))
	}
	// Output:
	// form intake is not ours - try again: false
}
