package delivery

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Changes are the changes that [Edit] makes in each event of a body. The zero Changes change
// nothing.
type Changes struct {
	OmitType bool   // leave out webhookEvent, as some samples of the interface do
	Type     string // write this webhookEvent; empty: the event's own
}

// Edit returns a body of [Body] or [Bodies] with the changes.
func Edit(body []byte, c Changes) []byte {
	if c == (Changes{}) {
		return body
	}
	if body[0] == '{' {
		return c.edit(body)
	}
	var events []json.RawMessage
	if err := json.Unmarshal(body, &events); err != nil {
		panic(err) // cannot fail: the JSON is our own
	}
	edited := make([][]byte, len(events))
	for i, e := range events {
		edited[i] = c.edit(e)
	}
	return fmt.Appendf(nil, "[%s]", bytes.Join(edited, []byte(",")))
}

// edit changes one event. The type is the first member of an event that has a type.
func (c Changes) edit(event []byte) []byte {
	rest, typed := bytes.CutPrefix(event, []byte(`{"webhookEvent":"`))
	typeText, rest, _ := bytes.Cut(rest, []byte(`",`)) // the types need no escapes
	if !typed {
		typeText, rest = nil, event[1:]
	}
	if c.Type != "" {
		typeText = AppendJSON(nil, c.Type)
	} else if typed {
		typeText = fmt.Appendf(nil, "%q", typeText)
	}
	out := []byte{'{'}
	if typeText != nil && !c.OmitType {
		out = fmt.Appendf(out, `"webhookEvent":%s,`, typeText)
	}
	return append(out, rest...)
}
