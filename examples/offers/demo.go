package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// runDemo sends three offers at an embedded service, whose clock it moves instead of waiting. An answer and all webhooks get lost.
func runDemo(ctx context.Context) error {
	srv, err := signformstest.Start(nil)
	if err != nil {
		return err
	}
	defer srv.Close()
	folder, err := os.MkdirTemp("", "offers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	a := &app{client: srv.Client(), hosts: []string{srv.URL}, now: srv.Now, doubt: time.Minute, overdue: 72 * time.Hour, again: 168 * time.Hour}
	if err := a.open(ctx, filepath.Join(folder, "offers.db")); err != nil {
		return err
	}
	defer a.db.Close()
	defer a.events.Close()
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Times: 1, AfterWork: true, Reset: true})
	lines := "a-1,T,Buyer,Ann,ann@example.com\na-2,T,Buyer,Ann,ann@example.com\nb-1,T,Buyer,Ben,ben@example.com\n"
	err = a.add(ctx, strings.NewReader(strings.ReplaceAll(lines, "T", template)))
	for _, wait := range []time.Duration{0, 0, time.Minute, 80 * time.Hour} { // after a minute the first is found, and the second is sent
		srv.Advance(wait)
		err = errors.Join(err, a.pass(ctx))
	}
	offers, findErr := a.find(ctx, "state = 'open' AND email = 'ann@example.com'")
	for _, o := range offers {
		err = errors.Join(err, srv.Signer(o.Document, o.Email).Sign())
	}
	return errors.Join(err, findErr, a.reconcile(ctx, "state = 'open'"), a.pass(ctx), a.export(ctx, os.Stdout), a.show(ctx, os.Stdout, "b-1"))
}
