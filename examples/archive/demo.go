package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"

	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// runDemo archives documents of an embedded service into a temporary folder.
func runDemo(ctx context.Context) (err error) {
	folder, err := os.MkdirTemp("", "archive-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	// The links to PDFs begin with https and name another host than the API, as those of a real service may.
	proxy := &httputil.ReverseProxy{}
	files := httptest.NewTLSServer(proxy)
	defer files.Close()
	srv, err := signformstest.Start(&signformstest.Options{PublicURL: files.URL})
	if err != nil {
		return err
	}
	defer srv.Close()
	api, err := url.Parse(srv.URL)
	if err != nil {
		return err
	}
	proxy.Rewrite = func(r *httputil.ProxyRequest) { r.SetURL(api) }
	host, err := url.Parse(files.URL)
	if err != nil {
		return err
	}
	a, err := newArchive(filepath.Join(folder, "finished"), []string{host.Host})
	if err != nil {
		return err
	}
	a.client.Transport = files.Client().Transport

	ctx, stop := context.WithCancelCause(ctx)
	on, kept := a.funcs(), make(chan error, 2)
	save := on.SignatureCompleted
	on.SignatureCompleted = func(ctx context.Context, e *webhook.SignatureCompleted) error {
		err := save(ctx, e)
		kept <- err
		return err
	}
	return run(ctx, "127.0.0.1:0", filepath.Join(folder, "events.db"), []string{srv.WebhookSecret}, on, func(address string) {
		stop(sign(ctx, srv, address, kept))
	})
}

// sign has two documents signed, and waits until both PDFs are kept.
func sign(ctx context.Context, srv *signformstest.Server, address string, kept <-chan error) error {
	srv.AddWebhook(signformstest.Webhook{URL: address, Event: signformstest.SignatureCompleted})
	for _, name := range []string{"Lease", "Offer"} {
		id := srv.AddDocument(signformstest.Document{Name: name, Signers: []signformstest.Signer{{Name: "Ann", Email: "ann@example.com"}}})
		fmt.Printf("Ann signs document %s\n", id)
		if err := srv.Signer(id, "ann@example.com").Sign(); err != nil {
			return err
		}
		select {
		case err := <-kept:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		fmt.Printf("kept: document-%s.pdf\n", id)
	}
	return nil
}
