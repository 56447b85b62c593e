package refserver

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String says in a sentence what the fault does from now on, as in "The next 2 reminders will be answered 503." Secrets are left
// out, and long texts are cut and end in "…". The wording may change.
func (f ActiveFault) String() string {
	if f.Fault != nil {
		one, many := requestWords(f.Fault.Operation)
		about := put(f.Fault.DocumentID, " about %s", 60)
		return f.sentence(occurrence{f.Fault.Nth, f.Fault.Times, f.Fault.Probability}, one+about, many+about, f.Fault.effects)
	}
	w := f.WebhookFault
	which := put(w.EventType, " of %s", 60) + put(w.DocumentID, " about %s", 60) + put(w.WebhookID, " to webhook %s", 60)
	one, many := "delivery attempt", "delivery attempts"
	if w.Delay > 0 { // which others do not even match
		one, many = "attempt of a delivery not yet delayed", "attempts of deliveries not yet delayed"
	}
	return f.sentence(occurrence{w.Nth, w.Times, w.Probability}, one+which, many+which, func(string) []string { return w.effects() })
}

func (f ActiveFault) sentence(o occurrence, one, many string, effects func(its string) []string) string {
	left, number := o.times-f.Happened, max(o.nth-f.Matched, 1) // number is that of the first match from now on that it may happen to
	its, chance, which := "its", "will ", "The next "+one
	if o.probability > 0 && o.probability < 1 {
		percent, _ := strconv.ParseFloat(strconv.FormatFloat(o.probability, 'f', -1, 64)+"e2", 64) // exact, as a product is not
		chance = "has a chance of " + strconv.FormatFloat(percent, 'f', -1, 64) + " % to "
	}
	switch {
	case o.times > 0 && left <= 0, o.nth > 0 && o.times == 0 && f.Matched >= o.nth:
		happened := fmt.Sprintf("%d %s, which were", f.Happened, many)
		if f.Happened == 1 {
			happened = "1 " + one + ", which was"
		} else {
			its = "their"
		}
		return "Nothing any more. It happened to " + happened + " to " + all(effects(its)) + "."
	case o.nth == 0 && o.times == 0:
		which = "Every " + one
	case o.times > 0 && chance != "will ":
		return f.few(left, number, one, many) + chance + all(effects(its)) + "."
	case number > 1:
		which = fmt.Sprintf("Of the %s from now on, number %d", many, number)
		if left > 1 {
			which, its = which+fmt.Sprintf(" and the %d after it", left-1), "their"
		}
	case left > 1:
		which, its = fmt.Sprintf("The next %d %s", left, many), "their"
	}
	return which + " " + chance + all(effects(its)) + "."
}

// few begins the sentence about a fault that happens by chance until it has happened often enough.
func (f ActiveFault) few(left, number int, one, many string) string {
	which := "every " + one
	if number > 1 {
		which = fmt.Sprintf("each of the %s from number %d on", many, number)
	}
	more := ""
	if f.Happened > 0 {
		more = " more"
	}
	if left == 1 {
		return "Once" + more + " at most, " + which + " "
	}
	return fmt.Sprintf("%d%s times at most, %s ", left, more, which)
}

// requestWords name the requests of an operation.
func requestWords(op Operation) (one, many string) {
	switch op {
	case "":
		return "request", "requests"
	case Send, SendReminder:
		one = strings.TrimPrefix(string(op), "send ")
		return one, one + "s"
	}
	what := strings.Replace(string(op), "void ", "void a ", 1)
	return "request to " + what, "requests to " + what
}

// effects are what happens, as verbs. its is "its" or "their".
func (f Fault) effects(its string) (what []string) {
	if f.AfterWork {
		what = append(what, "do "+its+" work")
	}
	if f.Latency > 0 {
		what = append(what, "wait for "+span(f.Latency))
	}
	if f.Reset {
		return append(what, "lose "+its+" connection without an answer")
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
		for _, part := range []string{put(f.RetryAfter, "Retry-After %s", 60), put(f.ContentType, "the type %s", 60), put(f.Body, "the body %q", 200)} {
			if part != "" {
				with = append(with, part)
			}
		}
		if len(with) > 0 {
			answer += " with " + all(with)
		}
		what = append(what, answer)
	}
	if f.Unknown {
		what = append(what, "get statuses and fields that no client knows")
	}
	if f.WrongTypes {
		what = append(what, "get texts for numbers and numbers for texts")
	}
	if f.Drip > 0 {
		what = append(what, "get a byte of "+its+" answer each "+span(f.Drip))
	}
	if f.Cut > 0 {
		what = append(what, fmt.Sprintf("lose %s connection after %s of %s answer, if there is more", its, countOf(f.Cut, "byte"), its))
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
	add(f.Secret != "", "be signed with the secret of this fault")
	add(f.Shift < 0, "have a timestamp "+span(-f.Shift)+" in the past")
	add(f.Shift > 0, "have a timestamp "+span(f.Shift)+" in the future")
	add(f.OmitHeader != "", "lack the header "+f.OmitHeader)
	add(f.OmitType, "lack webhookEvent")
	add(f.Type != "", put(f.Type, "have the webhookEvent %q", 60))
	add(f.Pad > 0, "have a field of "+countOf(f.Pad, "byte")+" more in each event")
	add(f.Reencode, "be indented and escaped after it was signed")
	return what
}

// countOf writes a number of things.
func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// put puts a text into a format, unless it is empty. A text of more than most characters is cut.
func put(text, format string, most int) string {
	if text == "" {
		return ""
	}
	if letters := []rune(text[:min(len(text), 4*(most+1))]); len(letters) > most {
		text = string(letters[:most-1]) + "…"
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
