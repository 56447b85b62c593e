package refserver

import (
	"context"
	"fmt"

	"github.com/signforms/signforms-go/internal/refserver/record"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Contents is what [CheckRecords] found in a storage.
type Contents struct {
	Records int
	Files   map[string]bool // SHA-256 of the files that belong to records; false: missing or damaged
}

// CheckRecords reads every record of a storage and every file that belongs to one, and changes nothing. It calls problem with each
// record that this version of the package cannot read, each record that another one names and that is missing, a missing record of the
// service itself, and each file that is missing or damaged. Its error says that the storage could not be read to its end. The storage must not be in use by a [Server].
func CheckRecords(ctx context.Context, storage Storage, problem func(string)) (Contents, error) {
	c := checker{there: map[link]bool{}, found: Contents{Files: map[string]bool{}}}
	err := storage.Load(ctx, func(r Record) error {
		c.found.Records++
		w, _, err := c.codec.Decode(store.Kind(r.Kind), r.ID, r.Data)
		if err != nil {
			problem(err.Error())
			return nil
		}
		c.add(w)
		return nil
	})
	if err != nil {
		return c.found, err
	}
	if c.found.Records > 0 && !c.service {
		problem(errNoService.Error())
	}
	for _, l := range c.links {
		if !c.there[l.to] {
			problem(fmt.Sprintf("%s %s belongs to %s %s, which is missing", l.from.kind, l.from.id, l.to.kind, l.to.id))
		}
	}
	for _, f := range c.files {
		data, err := storage.Blob(ctx, f.hash)
		switch {
		case ctx.Err() != nil:
			return c.found, ctx.Err()
		case err == nil && signing.Hash(data) != f.hash:
			err = store.ErrDamaged
		}
		c.found.Files[f.hash] = err == nil
		if err != nil {
			problem(unreadable(f.of, err).Error())
		}
	}
	return c.found, nil
}

// checker collects what records need.
type checker struct {
	codec   record.Codec
	service bool          // there is the record of the service itself
	there   map[link]bool // records that others belong to
	links   []struct{ from, to link }
	files   []struct{ of, hash string }
	found   Contents
}

type link struct {
	kind store.Kind
	id   string
}

func (c *checker) add(w store.Write) {
	of := string(w.Kind) + " " + w.ID
	belongs := func(kind store.Kind, id string) {
		c.links = append(c.links, struct{ from, to link }{link{w.Kind, w.ID}, link{kind, id}})
	}
	switch v := w.Value.(type) {
	case *store.Service:
		c.service = v.WorkspaceID != ""
	case *signing.Template, *signing.Form:
		c.there[link{w.Kind, w.ID}] = true
	case *store.FormLink:
		belongs(store.KindForm, v.FormID)
	case *signing.FormResponse:
		belongs(store.KindForm, v.FormID)
	case *signing.Document:
		if v.TemplateID != "" {
			belongs(store.KindTemplate, v.TemplateID)
		}
	}
	for _, f := range store.Files(w.Value) {
		if f.SHA256 != "" {
			c.files = append(c.files, struct{ of, hash string }{of, f.SHA256})
		}
	}
}
