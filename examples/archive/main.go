// Archive receives the service's webhooks durably and keeps the finished PDF of every document, form response and send of a
// template in a folder.
//
//	go run .
//	SIGNFORMS_WEBHOOK_SECRETS=new,old archive -hosts files.example.com -db events.db -dir finished
//
// A delivery is answered 200 when its events are on disk. Downloads run later, and are retried when they fail. The command
// signforms-queue list -failed lists those that failed for good. Put TLS in front of the program. Without secrets it archives two
// documents of an embedded service, and ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen on")
	db := flag.String("db", "events.db", "file of the queue")
	dir := flag.String("dir", "finished", "folder for the PDFs")
	hosts := flag.String("hosts", "", "hosts that PDFs may come from, separated by commas: those in the links that the service sends")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	secrets := os.Getenv("SIGNFORMS_WEBHOOK_SECRETS")
	if secrets == "" {
		if err := runDemo(ctx); err != nil {
			log.Fatal(err)
		}
		return
	}
	a, err := newArchive(*dir, strings.Split(*hosts, ","))
	if err == nil {
		err = run(ctx, *addr, *db, strings.Split(secrets, ","), a.funcs(), nil)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run receives and processes events until ctx ends. Then it stops the server, the functions and the store, in this order. It calls
// ready, if that is not nil, with the URL for webhooks.
func run(ctx context.Context, addr, db string, secrets []string, on webhook.Funcs, ready func(url string)) error {
	verifier, err := webhook.NewVerifier(secrets, nil)
	if err != nil {
		return err
	}
	q, err := queue.Open(db, &queue.Options{Timeout: 2 * time.Minute})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return errors.Join(err, q.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("POST /webhook", q.Handler(verifier))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 20 * time.Second}
	url := fmt.Sprintf("http://%s/webhook", listener.Addr())
	fmt.Println("receiving at", url)

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { cancel(server.Serve(listener)) }()
	working, stopWorking := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() {
		err := q.Run(working, on)
		cancel(err)
		ended <- err
	}()

	if ready != nil {
		go ready(url)
	}
	<-ctx.Done()
	shutdown, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer done()
	err = server.Shutdown(shutdown)
	stopWorking()
	err = errors.Join(err, <-ended, q.Close())
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) && !errors.Is(cause, http.ErrServerClosed) {
		err = errors.Join(err, cause)
	}
	return err
}
