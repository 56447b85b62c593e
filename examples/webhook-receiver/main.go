// Webhook-receiver receives the service's webhooks until a signal stops it. Then it finishes the deliveries that it has
// begun.
//
//	go run ./examples/webhook-receiver
//	SIGNFORMS_WEBHOOK_SECRETS=new,old go run ./examples/webhook-receiver -addr :8080
//
// Without secrets it starts an embedded service that delivers to it, and stops after that. Put TLS in front of the
// program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := run(ctx, *addr, os.Getenv("SIGNFORMS_WEBHOOK_SECRETS")); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, addr, secrets string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String() + "/webhook"
	if secrets != "" {
		fmt.Println("receiving at", url)
		return serve(ctx, listener, strings.Split(secrets, ","))
	}
	demo, err := startDemo(url)
	if err != nil {
		return err
	}
	defer demo.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	delivered := make(chan error, 1)
	go func() {
		defer stop()
		delivered <- demo.deliver(ctx)
	}()
	return errors.Join(serve(ctx, listener, demo.secrets()), <-delivered)
}

// serve serves until ctx ends. It returns when the deliveries that had begun are processed.
func serve(ctx context.Context, listener net.Listener, secrets []string) error {
	handler, err := newHandler(secrets)
	if err != nil {
		listener.Close()
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/webhook", handler)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 20 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	fmt.Println("stopping: no new deliveries")
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second) // a function may take 30 s
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return fmt.Errorf("stopped before all was done: %w", err)
	}
	fmt.Println("stopped: all that had begun is done")
	return nil
}

// newHandler accepts several secrets, so that a secret can be replaced without a gap. Start with
// the new and the old one, set the new one at the service, and drop the old one when no more
// deliveries are signed with it. The replay store is in the memory of this process. Several
// processes behind one address need a shared store, such as that of module stores/. Refused, failed
// and skipped deliveries are logged.
func newHandler(secrets []string) (http.Handler, error) {
	verifier, err := webhook.NewVerifier(secrets, nil)
	if err != nil {
		return nil, err
	}
	report := func(ctx context.Context, e webhook.Event, what string) error {
		delivery, _ := webhook.VerifiedFromContext(ctx)
		fmt.Printf("%s %s: %s (secret %d)\n", e.EventType(), e.SubjectID(), what, delivery.SecretIndex)
		return nil
	}
	return webhook.NewHandler(verifier, webhook.Funcs{
		SignatureSigned: func(ctx context.Context, e *webhook.SignatureSigned) error {
			return report(ctx, e, fmt.Sprintf("signed by one of %d", len(e.Signers)))
		},
		SignatureCompleted: func(ctx context.Context, e *webhook.SignatureCompleted) error {
			return report(ctx, e, "signed by all")
		},
		Default: func(ctx context.Context, e webhook.Event) error { return report(ctx, e, "nothing to do") },
	}, &webhook.HandlerOptions{
		ReplayStore: webhook.NewMemoryReplayStore(&webhook.MemoryReplayOptions{MaxEvents: 10_000}),
		Logger:      slog.New(slog.NewTextHandler(os.Stdout, nil)),
	}), nil
}
