package control

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Apply adds the records of a seed. It first tries them on a temporary server, so that an invalid
// seed adds nothing. For an invalid record, the error is an [*Error] with a Path.
func (a *API) Apply(ctx context.Context, s *wire.Seed) (*wire.Seeded, error) {
	trial, err := refserver.Start(&refserver.Options{Behind: a.server})
	if err != nil {
		return nil, err
	}
	defer trial.Close()
	if _, err := a.add(ctx, trial, s); err != nil {
		return nil, err
	}
	return a.add(ctx, a.server, s)
}

// Begin adds the records of Config.Seed to a sandbox without records. After an error, the sandbox
// has a part of them.
func (a *API) Begin(ctx context.Context) (*wire.Seeded, error) {
	return a.add(ctx, a.server, cmp.Or(a.Seed, &wire.Seed{}))
}

func (a *API) add(ctx context.Context, server *refserver.Server, s *wire.Seed) (*wire.Seeded, error) {
	out := &wire.Seeded{Templates: []string{}, Forms: []string{}, Documents: []string{}, Webhooks: []string{}, Keys: map[string]string{}}
	for i, t := range s.Templates {
		if err := note(out, &out.Templates, t.Key, at("templates", i), func() (string, error) {
			made, err := a.createTemplate(ctx, server, t)
			return made.ID, err
		}); err != nil {
			return nil, err
		}
	}
	for i, f := range s.Forms {
		if err := note(out, &out.Forms, f.Key, at("forms", i), func() (string, error) { return server.AddForm(f.Form) }); err != nil {
			return nil, err
		}
	}
	for i, d := range s.Documents {
		if err := note(out, &out.Documents, d.Key, at("documents", i), func() (string, error) {
			made, err := a.createDocument(ctx, server, d)
			return made.ID, err
		}); err != nil {
			return nil, err
		}
	}
	for i, w := range s.Webhooks {
		resolved := w
		resolved.Documents = slices.Clone(w.Documents)
		for n, name := range w.Documents {
			if id, isKey := out.Keys[name]; isKey {
				resolved.Documents[n] = id
			}
		}
		if err := note(out, &out.Webhooks, "", at("webhooks", i), func() (string, error) { return server.AddWebhook(resolved) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func at(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

func checkKey(key string) *wire.Error {
	if n := utf8.RuneCountInString(key); n > refserver.MaxName {
		return inputError("key: has %d characters, and may have %d at most: shorten it", n, refserver.MaxName)
	}
	return nil
}

// note calls make for one record and adds its id to out.
func note(out *wire.Seeded, ids *[]string, key, path string, make func() (string, error)) error {
	if e := checkKey(key); e != nil {
		e.Path = path
		return e
	}
	if _, taken := out.Keys[key]; taken && key != "" {
		return &wire.Error{Status: http.StatusUnprocessableEntity, Code: "input", Message: fmt.Sprintf("the key %q is used twice", key), Path: path}
	}
	id, err := make()
	if err != nil {
		e := *asError(err)
		e.Path = path
		return &e
	}
	*ids = append(*ids, id)
	if key != "" {
		out.Keys[key] = id
	}
	return nil
}

func (a *API) seed(r *http.Request, in wire.Seed) (any, error) {
	out, err := a.Apply(r.Context(), &in)
	if err != nil {
		return nil, err
	}
	return created{out}, nil
}

// Reset empties the sandbox and adds the records of Config.Seed again. After an error, the sandbox
// has a part of them.
func (a *API) Reset(ctx context.Context) (*wire.Seeded, error) {
	if err := a.server.Reset(); err != nil {
		return nil, err
	}
	return a.Begin(ctx)
}

func (a *API) reset(r *http.Request) (any, error) { return a.Reset(r.Context()) }
