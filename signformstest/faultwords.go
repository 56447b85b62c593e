package signformstest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
)

// String says in a sentence what the fault does from now on, as in "The next 2 reminders will be answered 503." Secrets are left
// out, and long texts are cut. The wording may change.
func (f ActiveFault) String() string {
	if f.Fault != nil {
		one, many := requestWords(f.Fault.Operation)
		about := put(f.Fault.DocumentID, " about %.60s")
		return f.sentence(occurrence{f.Fault.Nth, f.Fault.Times, f.Fault.Probability}, one+about, many+about, f.Fault.effects())
	}
	w := f.WebhookFault
	which := put(w.EventType, " of %s") + put(w.DocumentID, " about %s") + put(w.WebhookID, " to webhook %.60s")
	return f.sentence(occurrence{w.Nth, w.Times, w.Probability}, "delivery attempt"+which, "delivery attempts"+which, w.effects())
}

func (f ActiveFault) sentence(o occurrence, one, many string, effects []string) string {
	left := max(o.times-f.Happened, 0)
	var which string
	switch {
	case o.times > 0 && left == 0, o.nth > 0 && o.times == 0 && f.Matched >= o.nth:
		return fmt.Sprintf("Nothing any more. It happened to %d %s, which were to %s.", f.Happened, many, all(effects))
	case o.nth > f.Matched+1:
		which = fmt.Sprintf("Of the %s from now on, number %d", many, o.nth-f.Matched)
		if o.times > 1 {
			which += fmt.Sprintf(" and the %d after it", o.times-1)
		}
	case o.times == 0 && o.nth == 0:
		which = "Every " + one
	case o.times == 0 || left == 1:
		which = "The next " + one
	default:
		which = fmt.Sprintf("The next %d %s", left, many)
	}
	if o.probability > 0 && o.probability < 1 {
		which += ", by a chance of " + strconv.FormatFloat(o.probability*100, 'g', 4, 64) + " % each,"
	}
	return which + " will " + all(effects) + "."
}

// requestWords name the requests of an operation.
func requestWords(op signforms.Operation) (one, many string) {
	switch op {
	case "":
		return "request", "requests"
	case signforms.OpSend, signforms.OpSendReminder:
		one = strings.TrimPrefix(string(op), "send ")
		return one, one + "s"
	}
	what := strings.Replace(string(op), "void ", "void a ", 1)
	return "request to " + what, "requests to " + what
}

// effects are what happens, as verbs.
func (f Fault) effects() (what []string) {
	if f.AfterWork {
		what = append(what, "do its work")
	}
	if f.Latency > 0 {
		what = append(what, "wait for "+span(f.Latency))
	}
	if f.Reset {
		return append(what, "lose its connection without an answer")
	}
	if f.answers() || f.RetryAfter != "" || f.ContentType != "" {
		answer := "be answered"
		switch {
		case f.Status != 0:
			answer += " " + strconv.Itoa(f.Status)
		case f.answers() && !f.AfterWork:
			answer += " 200"
		}
		if _, err := strconv.Atoi(f.RetryAfter); err == nil {
			f.RetryAfter += " s"
		}
		var with []string
		for _, part := range []string{put(f.RetryAfter, "Retry-After %.60s"), put(f.ContentType, "the type %.60s"), put(f.Body, "the body %.200q")} {
			if part != "" {
				with = append(with, part)
			}
		}
		what = append(what, answer+put(all(with), " with %s"))
	}
	if f.Unknown {
		what = append(what, "get statuses and fields that no client knows")
	}
	if f.WrongTypes {
		what = append(what, "get texts for numbers and numbers for texts")
	}
	if f.Drip > 0 {
		what = append(what, "get a byte of its answer each "+span(f.Drip))
	}
	if f.Cut > 0 {
		what = append(what, fmt.Sprintf("lose its connection after %d bytes of its answer", f.Cut))
	}
	if len(what) == 0 {
		what = append(what, "be answered as usual")
	}
	return what
}

// effects are what happens, as verbs.
func (f WebhookFault) effects() (what []string) {
	add := func(is bool, text string) {
		if is {
			what = append(what, text)
		}
	}
	add(f.Delay > 0, "be made "+span(f.Delay)+" later")
	add(f.Drop, "get lost")
	add(f.Duplicate, "be made twice")
	add(f.Secret != "", "be signed with another secret")
	add(f.Shift < 0, "have a timestamp "+span(-f.Shift)+" in the past")
	add(f.Shift > 0, "have a timestamp "+span(f.Shift)+" in the future")
	add(f.OmitHeader != "", "lack the header "+put(f.OmitHeader, "%.60s"))
	add(f.OmitType, "lack webhookEvent")
	add(f.Type != "", put(f.Type, "have the webhookEvent %.60q"))
	add(f.Pad > 0, fmt.Sprintf("have %d bytes more in each event", f.Pad))
	add(f.Reencode, "be indented and escaped after it was signed")
	add(len(what) == 0, "be made as usual")
	return what
}

// put puts a text into a format, unless it is empty.
func put(text, format string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(format, text)
}

// all joins words: "a, b and c".
func all(texts []string) string {
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// span writes a duration without parts that are zero.
func span(d time.Duration) string {
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}
