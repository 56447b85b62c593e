package probe

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// tried returns the Profile that was found, and an error if the reference service with it is not like the service that was asked: the
// same probe must give each outcome that was told, and no fact may hold that an answer contradicted.
func (r *run) tried(ctx context.Context) (signformstest.Profile, error) {
	p := r.report.Profile
	if reflect.ValueOf(p).IsZero() {
		return p, nil
	}
	if e := found(r.Options.Endpoints, r.report.Endpoints); len(e) > 0 {
		p.Endpoints = e
	}
	s, err := signformstest.Start(&signformstest.Options{Seed: 5, Start: time.Date(2026, 11, 2, 9, 0, 0, 100_000_000, time.UTC), Profile: p})
	if err != nil {
		return p, fmt.Errorf("the reference service cannot be set so: %w", err)
	}
	defer s.Close()
	if err := fill(ctx, s); err != nil {
		return p, err
	}
	again := newRun(Options{BaseURL: s.URL, APIKey: s.APIKey, WorkspaceID: s.WorkspaceID, Transport: s.HTTPClient().Transport, Timeout: r.Timeout,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	again.trial = true
	again.all(ctx)
	again.finish()
	for _, f := range Facts {
		was, is := r.outcomes[f.ID].Outcome, again.outcomes[f.ID].Outcome
		if !f.Mutating && (was == Holds || was == Differs) && was != is || is == Holds && slices.Contains(r.doubted, f.ID) {
			return p, fmt.Errorf("it cannot be set so that this is the same: %s", f.Text)
		}
	}
	if is := found(nil, again.report.Endpoints); len(is) != len(p.Endpoints) || len(is) > 0 && !reflect.DeepEqual(is, p.Endpoints) {
		return p, fmt.Errorf("it does not show the same endpoints")
	}
	return p, nil
}

// found returns the endpoints of lists that were found and not known before.
func found(known, now map[signforms.Operation]signforms.Endpoint) map[signforms.Operation]signforms.Endpoint {
	out := maps.Clone(now)
	maps.DeleteFunc(out, func(op signforms.Operation, e signforms.Endpoint) bool {
		return op == signforms.OpVoidDocument || op == signforms.OpSendReminder || op == signforms.OpSend || reflect.DeepEqual(e, known[op]) || e.Path != ""
	})
	return out
}

// fill gives the service records that show each fact.
func fill(ctx context.Context, s *signformstest.Server) error {
	var changed []string // later, so that their updatedAt is another
	for i := range 130 {
		id, err := s.TryAddDocument(signformstest.Document{Name: fmt.Sprint("Lease ", i), Signers: []signformstest.Signer{{Name: "Ann", Email: "ann@example.org"}}})
		if err == nil && i < 125 && i%30 == 5 {
			err = s.Archive(id)
		}
		if err == nil && i == 100 {
			err = s.Signer(id, "ann@example.org").Sign()
		}
		if err != nil {
			return err
		}
		if i%25 == 1 {
			changed = append(changed, id)
		}
		if i > 9 && i%25 > 0 { // some documents have the same time
			s.Advance(47 * time.Minute) // the smallest largest page holds those of a day
		}
	}
	for _, id := range changed {
		if err := s.Signer(id, "ann@example.org").View(); err != nil {
			return err
		}
	}
	offer := s.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	for range 2 {
		_, err := s.Client().Templates.Send(ctx, signforms.TemplateSendParams{TemplateID: offer, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.org", RoleTitle: "Buyer"}}})
		if err != nil {
			return err
		}
	}
	return nil
}
