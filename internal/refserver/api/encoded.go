package api

import (
	"bytes"
	"sync"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// encoded keeps documents as lists show them, so that a list encodes only what changed since it was last asked for. It knows a
// version of a document by its pointer: the store replaces a document that changes and never writes to it. It holds two
// generations of at most maxEncoded bytes; when the younger one is full, the older one is forgotten.
type encoded struct {
	mu             sync.Mutex
	younger, older map[*signing.Document][]byte
	size           int // of the younger
}

// maxEncoded is enough for about 20,000 documents.
const maxEncoded = 16 << 20

// of returns the document as encode prints it.
func (e *encoded) of(d *signing.Document, encode func(*signing.Document) ([]byte, error)) ([]byte, error) {
	if body, ok := e.find(d); ok {
		return body, nil
	}
	body, err := encode(d)
	if err != nil {
		return nil, err
	}
	body = bytes.Clone(body) // without the room that the encoder left
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keep(d, body)
	return body, nil
}

func (e *encoded) find(d *signing.Document) ([]byte, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if body, ok := e.younger[d]; ok {
		return body, true
	}
	body, ok := e.older[d]
	if ok {
		e.keep(d, body) // what is asked for again does not age
	}
	return body, ok
}

func (e *encoded) keep(d *signing.Document, body []byte) {
	if e.younger == nil || e.size+len(body) > maxEncoded {
		e.younger, e.older, e.size = map[*signing.Document][]byte{}, e.younger, 0
	}
	e.younger[d] = body
	e.size += len(body)
}
