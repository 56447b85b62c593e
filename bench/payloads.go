package bench

import (
	"bytes"
	_ "embed"
)

// Payload is a body that the service could send, as JSON.stringify formats it.
type Payload struct {
	Name   string
	JSON   []byte
	Events int // how many elements its array has
}

var (
	//go:embed payloads/event.json
	eventJSON []byte
	//go:embed payloads/batch.json
	batchJSON []byte
	//go:embed payloads/form.json
	formJSON []byte
)

// Payloads returns one completed event with four signers (about 1 KB), a batch of events of all seven types (about
// 20 KB) and one form response with many answers (about 50 KB).
func Payloads() []Payload {
	return []Payload{
		{Name: "1 KB event", JSON: eventJSON, Events: 1},
		{Name: "20 KB batch", JSON: batchJSON, Events: bytes.Count(batchJSON, []byte(`"webhookEvent":`))},
		{Name: "50 KB form", JSON: formJSON, Events: 1},
	}
}

// idDigits is how many of an id's last digits [renumber] overwrites: as many as follow a UUID's last hyphen.
const idDigits = 12

// ids returns the positions of the last digits of each event's id in the payload.
func ids(payload []byte) []int {
	const uuidLen = 36
	var at []int
	for _, key := range []string{`"documentId":"`, `"formResponseId":"`} {
		for from := 0; ; {
			i := bytes.Index(payload[from:], []byte(key))
			if i < 0 {
				break
			}
			from += i + len(key) + uuidLen
			at = append(at, from-idDigits)
		}
	}
	return at
}

// renumber writes the numbers after n into the ids, so that every event is new to all receivers. It returns the last number.
func renumber(body []byte, ids []int, n uint64) uint64 {
	for _, at := range ids {
		n++
		rest := n
		for i := at + idDigits - 1; i >= at; i-- {
			body[i] = "0123456789abcdef"[rest&0xf]
			rest >>= 4
		}
	}
	return n
}
