package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/signforms/signforms-go/bench"
	"github.com/signforms/signforms-go/webhook"
)

// The receivers that this program can run as.
const (
	ours = "signforms"
	bare = "bare"
)

// serveUntilStdinEnds prints its address and serves until the program that started it ends or closes the pipe.
func serveUntilStdinEnds(name string) error {
	receiver, err := newReceiver(name)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/webhook", receiver)
	mux.HandleFunc("GET /cpu", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, bench.CPUTime().Microseconds())
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("listening", listener.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return http.Serve(listener, mux)
}

func newReceiver(name string) (http.Handler, error) {
	switch name {
	case ours:
		v, err := webhook.NewVerifier([]string{bench.Secret}, nil)
		if err != nil {
			return nil, err
		}
		return webhook.NewHandler(v, webhook.Funcs{Other: func(context.Context, webhook.Event) error { return nil }}, nil), nil
	case bare:
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				http.Error(w, "unreadable", http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"status":"ok"}`)
		}), nil
	}
	return nil, fmt.Errorf("no receiver %q", name)
}
