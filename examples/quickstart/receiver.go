package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// receiver is an application's webhook endpoint: a webhook.Handler behind an http.Server.
type receiver struct {
	URL    string
	server *http.Server

	mu   sync.Mutex
	seen map[webhook.EventType]int
}

func startReceiver(secret string) (*receiver, error) {
	verifier, err := webhook.NewVerifier([]string{secret}, nil)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{URL: "http://" + listener.Addr().String(), seen: map[webhook.EventType]int{}}
	r.server = &http.Server{Handler: webhook.NewHandler(verifier, r.funcs(), nil), ReadTimeout: 10 * time.Second}
	go r.server.Serve(listener) // ends with Close
	return r, nil
}

// Close stops the receiver.
func (r *receiver) Close() error { return r.server.Close() }

// funcs returns one function for each event type. Exactly one of them runs for each verified event.
func (r *receiver) funcs() webhook.Funcs {
	return webhook.Funcs{
		FormResponse: func(_ context.Context, e *webhook.FormResponse) error {
			return r.print(e, "form %q was filled in (answers: %d)", e.FormTitle, len(e.Answers))
		},
		SignatureViewed: func(_ context.Context, e *webhook.SignatureViewed) error {
			return r.print(e, "%s has opened %q", e.ViewedBy.Name, e.DocumentName)
		},
		SignatureSigned: func(_ context.Context, e *webhook.SignatureSigned) error {
			return r.print(e, "%s has signed %q", e.SignedBy.Name, e.DocumentName)
		},
		SignatureCompleted: func(_ context.Context, e *webhook.SignatureCompleted) error {
			return r.print(e, "%q is complete", e.DocumentName)
		},
		TemplateViewed: func(_ context.Context, e *webhook.TemplateViewed) error {
			return r.print(e, "%s (%s) has opened %q", e.ViewedBy.Name, e.ViewedBy.RoleTitle, e.DocumentName)
		},
		TemplateSigned: func(_ context.Context, e *webhook.TemplateSigned) error {
			return r.print(e, "%s (%s) has signed %q", e.SignedBy.Name, e.SignedBy.RoleTitle, e.DocumentName)
		},
		TemplateResponse: func(_ context.Context, e *webhook.TemplateResponse) error {
			return r.print(e, "%q is complete, signed by %d", e.DocumentName, len(e.Signers))
		},
	}
}

func (r *receiver) print(e webhook.Event, format string, args ...any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[e.EventType()]++
	fmt.Printf("   → webhook %s: %s\n", e.EventType(), fmt.Sprintf(format, args...))
	return nil
}

// report prints the last line, and returns an error if an event type is missing.
func (r *receiver) report() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Printf("\n%d of 7 event types arrived, signed and verified\n", len(r.seen))
	if len(r.seen) < 7 {
		return errors.New("some event types are missing")
	}
	return nil
}
