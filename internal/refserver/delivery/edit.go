package delivery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Changes are what [Edit] changes in each event of a body. The zero Changes change nothing.
type Changes struct {
	OmitType bool   // without webhookEvent, as in some of the interface's own samples
	Type     string // this webhookEvent instead of the event's own; empty: its own
	Pad      int    // one more field, of so many bytes
}

// Edit returns a body of [Body] or [Bodies] with the changes.
func Edit(body []byte, c Changes) []byte {
	if body[0] == '{' {
		return c.edit(body)
	}
	var events []json.RawMessage
	if err := json.Unmarshal(body, &events); err != nil {
		panic(err) // our own JSON
	}
	for i, e := range events {
		events[i] = c.edit(e)
	}
	return fmt.Appendf(nil, "[%s]", bytes.Join(raw(events), []byte(",")))
}

func raw(events []json.RawMessage) (all [][]byte) {
	for _, e := range events {
		all = append(all, e)
	}
	return all
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
	out = append(out, rest...)
	if c.Pad > 0 {
		out = fmt.Appendf(out[:len(out)-1], `,"padding":"%s"}`, strings.Repeat("x", c.Pad))
	}
	return out
}
