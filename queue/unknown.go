package queue

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/signforms/signforms-go/webhook"
)

// looseIDs are the ids of an event whose type is not known, or that could not be decoded. What does not fit is left out.
type looseIDs struct {
	document, response string
	signers            []string
}

func readLoosely(raw []byte) (ids looseIDs) {
	var fields struct {
		DocumentID     json.RawMessage `json:"documentId"`
		FormResponseID json.RawMessage `json:"formResponseId"`
		Signers        json.RawMessage `json:"signers"`
	}
	if json.Unmarshal(raw, &fields) != nil {
		return looseIDs{}
	}
	var signers []json.RawMessage
	_ = json.Unmarshal(fields.Signers, &signers) // a field that does not fit stays empty, as below
	for _, one := range signers {
		var s struct {
			SignerID json.RawMessage `json:"signerId"`
		}
		if json.Unmarshal(one, &s) == nil {
			if id := textOf(s.SignerID); id != "" {
				ids.signers = append(ids.signers, id)
			}
		}
	}
	ids.document, ids.response = textOf(fields.DocumentID), textOf(fields.FormResponseID)
	return ids
}

// textOf returns a JSON string, and a number or a boolean as it stands, as package webhook reads them; or "" for any other value.
func textOf(raw json.RawMessage) (text string) {
	if len(raw) > 0 && !bytes.ContainsRune([]byte(`"{[n`), rune(raw[0])) {
		return string(raw)
	}
	_ = json.Unmarshal(raw, &text)
	return text
}

// understood reports whether an event is of a known type and all its fields could be read.
func understood(e webhook.Event) bool {
	_, unknown := e.(*webhook.UnknownEvent)
	return !unknown && len(e.FieldErrors()) == 0
}

// names reports whether f selects by ids, so that [Queue.Erase] also looks for them in events that are not understood.
func (f *Filter) names() bool { return f.Document != "" || f.Response != "" || f.Signers != nil }

// foundIn reports whether an event that is not understood holds the ids that f names, each as a whole JSON string. It returns false for
// an event that is understood, because its ids are in columns. ok is false if body is not JSON.
func (f *Filter) foundIn(body []byte) (found, ok bool) {
	if !json.Valid(body) {
		return false, false
	}
	e, err := (&claim{body: body}).event()
	if err != nil || understood(e) {
		return false, err == nil
	}
	values := stringsIn(body)
	has := func(id string) bool { return slices.Contains(values, id) }
	return (f.Document == "" || has(f.Document)) && (f.Response == "" || has(f.Response)) &&
		(f.Signers == nil || slices.ContainsFunc(f.Signers, has)), true
}

// stringsIn returns the strings of valid JSON that are not names of members. It also finds those under a name that is there twice.
func stringsIn(body []byte) (values []string) {
	type level struct{ object, name bool } // name: a name comes next
	var levels []level
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return values
		}
		top := len(levels) - 1
		switch v := token.(type) {
		case json.Delim:
			if v == '}' || v == ']' {
				levels = levels[:top]
				top--
			} else {
				levels = append(levels, level{v == '{', v == '{'})
				continue
			}
		case string:
			if top >= 0 && levels[top].name {
				levels[top].name = false
				continue
			}
			values = append(values, v)
		}
		if top >= 0 {
			levels[top].name = levels[top].object
		}
	}
}
