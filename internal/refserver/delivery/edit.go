package delivery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Edit returns a body of [Bodies] with another type, without one, or with padding, as form says. It ignores form.Object.
func Edit(body []byte, form Form) []byte {
	if body[0] == '{' {
		return form.edit(body)
	}
	var events []json.RawMessage
	if err := json.Unmarshal(body, &events); err != nil {
		panic(err) // our own JSON
	}
	for i, e := range events {
		events[i] = form.edit(e)
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
func (f Form) edit(event []byte) []byte {
	rest, typed := bytes.CutPrefix(event, []byte(`{"webhookEvent":"`))
	typeText, rest, _ := bytes.Cut(rest, []byte(`",`)) // the types need no escapes
	if !typed {
		typeText, rest = nil, event[1:]
	}
	if f.Type != "" {
		typeText = AppendJSON(nil, f.Type)
	} else if typed {
		typeText = fmt.Appendf(nil, "%q", typeText)
	}
	out := []byte{'{'}
	if typeText != nil && !f.OmitType {
		out = fmt.Appendf(out, `"webhookEvent":%s,`, typeText)
	}
	out = append(out, rest...)
	if f.Pad > 0 {
		out = fmt.Appendf(out[:len(out)-1], `,"padding":"%s"}`, strings.Repeat("x", f.Pad))
	}
	return out
}
