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

// version is the version of all records. Increment it with every change of their content, because
// records of another version are refused.
const version = 4

// envelope surrounds each record.
type envelope struct {
	Version int   `json:"v"`
	At      int64 `json:"at"` // when the record was written, by the service's clock, in Unix milliseconds
}

// filled is an envelope with a record in it.
type filled[T any] struct {
	envelope
	Data T `json:"d"`
}

// decoders read records by kind.
var decoders = map[store.Kind]func(data []byte) (envelope, any, error){
	store.KindService:  decode[store.Service],
	store.KindKey:      decode[store.Key],
	store.KindTemplate: decode[signing.Template],
	store.KindForm:     decode[signing.Form],
	store.KindFormLink: decode[store.FormLink],
	store.KindDocument: decode[signing.Document],
	store.KindResponse: decode[signing.FormResponse],
	store.KindWebhook:  decode[store.Webhook],
	store.KindDelivery: decode[store.Delivery],
	store.KindAudit:    decodeBatch[signing.AuditEntry],
	store.KindMessage:  decodeBatch[signing.Message],
	store.KindLimit:    decode[store.Limit],
}

func decode[T any](data []byte) (envelope, any, error) {
	var f filled[T]
	err := json.Unmarshal(data, &f)
	return f.envelope, &f.Data, err
}

func decodeBatch[T any](data []byte) (envelope, any, error) {
	var f filled[[]*T]
	err := json.Unmarshal(data, &f)
	if err == nil && (len(f.Data) == 0 || slices.Contains(f.Data, nil)) {
		err = errors.New("an entry is missing")
	}
	return f.envelope, f.Data, err
}

// Encode returns the bytes of a record that is written at the time at. The bytes of a blob are its
// content.
func Encode(at time.Time, w store.Write) ([]byte, error) {
	if w.Kind == store.KindBlob {
		return w.Value.([]byte), nil
	}
	if decoders[w.Kind] == nil {
		return nil, fmt.Errorf("there are no records of the kind %q", w.Kind)
	}
	if d, ok := w.Value.(*store.Delivery); ok {
		w.Value = slim(d)
	}
	data, err := json.Marshal(filled[any]{envelope{version, at.UnixMilli()}, w.Value})
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", w.Kind, w.ID, err)
	}
	return data, nil
}

// Decode returns the record that data encodes, and the time when it was written.
func Decode(kind store.Kind, id string, data []byte) (w store.Write, at time.Time, err error) {
	read := decoders[kind]
	if read == nil {
		return w, at, fmt.Errorf("a record of the kind %q, which this version of the program does not know", kind)
	}
	e, value, err := read(data)
	if err != nil {
		json.Unmarshal(data, &e) // the version may still be readable
	}
	if e.Version > 0 && e.Version != version {
		return w, at, fmt.Errorf("reading %s %s: it has version %d, and this version of the program reads %d: use the one that wrote it, or start with an empty file",
			kind, id, e.Version, version)
	}
	if err == nil && e.Version == 0 {
		err = errors.New("it has no version")
	}
	if err != nil {
		return w, at, fmt.Errorf("reading %s %s: %w", kind, id, err)
	}
	if d, ok := value.(*store.Delivery); ok {
		fill(d)
	}
	return store.Write{Kind: kind, ID: id, Value: value}, time.UnixMilli(e.At).UTC(), nil
}

// slim removes the parts of a delivery that fill can restore. Most attempts sent the delivery's own
// body.
func slim(d *store.Delivery) *store.Delivery {
	out := *d
	out.Attempts = make([]store.Attempt, len(d.Attempts))
	for i, a := range d.Attempts {
		if bytes.Equal(a.Body, d.Body) {
			a.Body = nil
		}
		out.Attempts[i] = a
	}
	return &out
}

// fill undoes slim.
func fill(d *store.Delivery) {
	for i := range d.Attempts {
		if d.Attempts[i].Body == nil {
			d.Attempts[i].Body = d.Body
		}
	}
}
