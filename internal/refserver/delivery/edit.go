package delivery

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Changes are what [Edit] changes in each event of a body. The zero Changes change nothing.
type Changes struct {
	OmitType bool   // without webhookEvent, as in some of the interface's own samples
	Type     string // this webhookEvent instead of the event's own; empty: its own
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
		panic(err) // our own JSON
	}
	edited := make([][]byte, len(events))
	for i, e := range events {
		edited[i] = c.edit(e)
	}
	return fmt.Appendf(nil, "[%s]", bytes.Join(edited, []byte(",")))
}

// edit changes one event: its type is its first member, if it has one.
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
