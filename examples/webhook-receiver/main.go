// Webhook-receiver receives the service's webhooks until it is told to stop, and then finishes what it has begun.
//
//	go run ./examples/webhook-receiver
//	SIGNFORMS_WEBHOOK_SECRETS=new,old go run ./examples/webhook-receiver -addr :8080
//
// Without secrets it starts an embedded service, has that deliver to it, and stops. Put TLS in front of it.
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

// serve serves until ctx ends, and returns when the deliveries that had begun are processed.
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

// newHandler accepts several secrets, so that one can be exchanged for another without a gap: give the new one and the
// old, tell the service the new one, and drop the old when nothing is signed with it any more. The replay store is this
// process's own; several processes behind one address need one that they share, such as that of module stores/. What is
// refused, fails or is skipped goes to the log.
func newHandler(secrets []string) (http.Handler, error) {
	verifier, err := webhook.NewVerifier(secrets, nil)
	if err != nil {
		return nil, err
	}
	report := func(ctx context.Context, e webhook.Event, what string) error {
		delivery, _ := webhook.VerifiedFrom(ctx)
		fmt.Printf("%s %s: %s (secret %d)\n", e.EventType(), e.SubjectID(), what, delivery.Secret)
		return nil
	}
	return webhook.NewHandler(verifier, webhook.Funcs{
		SignatureSigned: func(ctx context.Context, e *webhook.SignatureSigned) error {
			return report(ctx, e, fmt.Sprintf("signed by one of %d", len(e.Signers)))
		},
		SignatureCompleted: func(ctx context.Context, e *webhook.SignatureCompleted) error {
			return report(ctx, e, "signed by all")
		},
		Other: func(ctx context.Context, e webhook.Event) error { return report(ctx, e, "nothing to do") },
	}, &webhook.HandlerOptions{
		ReplayStore: webhook.NewMemoryReplayStore(&webhook.MemoryReplayOptions{MaxEvents: 10_000}),
		Logger:      slog.New(slog.NewTextHandler(os.Stdout, nil)),
	}), nil
}
