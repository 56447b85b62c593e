package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Codec encodes and decodes records. Make one with [New]. It is safe for concurrent use.
type Codec struct{ kinds map[store.Kind]kind }

// kind is how records of one kind are read and written.
type kind struct {
	decode func(data []byte) (envelope, any, error)
	steps  []Step // from version 1 on
}

// Step turns what a version wrote into what the next version writes.
type Step func(json.RawMessage) (json.RawMessage, error)

// envelope surrounds each record.
type envelope struct {
	Version int   `json:"v"`
	At      int64 `json:"at"` // when it was written, by the service's clock, in Unix milliseconds
}

// filled is an envelope with a record in it.
type filled[T any] struct {
	envelope
	Data T `json:"d"`
}

// steps are those of this version of the program.
var steps = map[store.Kind][]Step{
	store.KindWebhook: {same}, // version 2 says which relay it belongs to; before it was not known
}

// same is the step to a version that adds a field, and must not be read by a program that would drop it.
func same(data json.RawMessage) (json.RawMessage, error) { return data, nil }

// New returns the codec of this version of the program.
func New() *Codec { return WithSteps(steps) }

// WithSteps returns a codec with other steps: a kind with n of them is in its version n+1.
func WithSteps(steps map[store.Kind][]Step) *Codec {
	c := &Codec{kinds: map[store.Kind]kind{
		store.KindService:   {decode: decode[store.Service]},
		store.KindWorkspace: {decode: decode[store.Workspace]},
		store.KindKey:       {decode: decode[store.Key]},
		store.KindTemplate:  {decode: decode[signing.Template]},
		store.KindForm:      {decode: decode[signing.Form]},
		store.KindFormLink:  {decode: decode[store.FormLink]},
		store.KindDocument:  {decode: decode[signing.Document]},
		store.KindResponse:  {decode: decode[signing.FormResponse]},
		store.KindWebhook:   {decode: decode[store.Webhook]},
		store.KindDelivery:  {decode: decode[store.Delivery]},
		store.KindAudit:     {decode: decodeBatch[signing.AuditEntry]},
		store.KindMessage:   {decode: decodeBatch[signing.Message]},
		store.KindLimit:     {decode: decode[store.Limit]},
	}}
	for name, s := range steps {
		k := c.kinds[name]
		k.steps = s
		c.kinds[name] = k
	}
	return c
}

func decode[T any](data []byte) (envelope, any, error) {
	f, err := decodeFilled[T](data)
	return f.envelope, &f.Data, err
}

func decodeFilled[T any](data []byte) (f filled[T], err error) {
	err = json.Unmarshal(data, &f)
	return f, err
}

func decodeBatch[T any](data []byte) (envelope, any, error) {
	f, err := decodeFilled[[]*T](data)
	if err == nil && (len(f.Data) == 0 || slices.Contains(f.Data, nil)) {
		err = errors.New("an entry is missing")
	}
	return f.envelope, f.Data, err
}

// Encode returns the bytes of a record that is written at that time. A blob's are its content.
func (c *Codec) Encode(at time.Time, w store.Write) ([]byte, error) {
	if w.Kind == store.KindBlob {
		return w.Value.([]byte), nil
	}
	k, ok := c.kinds[w.Kind]
	if !ok {
		return nil, fmt.Errorf("there are no records of the kind %q", w.Kind)
	}
	if d, ok := w.Value.(*store.Delivery); ok {
		w.Value = slim(d)
	}
	data, err := json.Marshal(filled[any]{envelope{len(k.steps) + 1, at.UnixMilli()}, w.Value})
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", w.Kind, w.ID, err)
	}
	return data, nil
}

// Decode returns the record that the bytes are of, and when it was written.
func (c *Codec) Decode(name store.Kind, id string, data []byte) (w store.Write, at time.Time, err error) {
	k, ok := c.kinds[name]
	if !ok {
		return w, at, fmt.Errorf("a record of the kind %q, which this version of the program does not know: use a newer one", name)
	}
	e, value, err := k.decode(data)
	if now := len(k.steps) + 1; e.Version != now {
		e, value, err = k.migrate(data, now)
	}
	if err != nil {
		return w, at, fmt.Errorf("reading %s %s: %w", name, id, err)
	}
	if d, ok := value.(*store.Delivery); ok {
		fill(d)
	}
	return store.Write{Kind: name, ID: id, Value: value}, time.UnixMilli(e.At).UTC(), nil
}

// migrate decodes a record of another version than now.
func (k kind) migrate(data []byte, now int) (envelope, any, error) {
	var old filled[json.RawMessage]
	if err := json.Unmarshal(data, &old); err != nil {
		return envelope{}, nil, err
	}
	switch {
	case old.Version < 1:
		return envelope{}, nil, errors.New("it has no version")
	case old.Version > now:
		return envelope{}, nil, fmt.Errorf("it has version %d, and this version of the program knows up to %d: use a newer one", old.Version, now)
	}
	for i, step := range k.steps[old.Version-1:] {
		var err error
		if old.Data, err = step(old.Data); err != nil {
			return envelope{}, nil, fmt.Errorf("migrating it from version %d: %w", old.Version+i, err)
		}
	}
	old.Version = now
	data, err := json.Marshal(old)
	if err != nil {
		return envelope{}, nil, err
	}
	return k.decode(data)
}

// slim drops from a delivery what fill can restore: attempts usually sent its own body.
func slim(d *store.Delivery) *store.Delivery {
	out := *d
	out.Attempts = make([]store.Attempt, len(d.Attempts))
	for i, a := range d.Attempts {
		if bytes.Equal(a.RequestBody, d.Body) {
			a.RequestBody = nil
		}
		out.Attempts[i] = a
	}
	return &out
}

// fill undoes slim.
func fill(d *store.Delivery) {
	for i := range d.Attempts {
		if d.Attempts[i].RequestBody == nil {
			d.Attempts[i].RequestBody = d.Body
		}
	}
}
