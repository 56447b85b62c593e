package console

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/signforms/signforms-go/internal/refserver"
)

// preset is a fault that testers often need. Its button sets the fault unchanged. The form below
// the buttons sets the same failure for another operation or webhook, and for another number of
// times.
type preset struct {
	Key, Button, What string
	fault             refserver.Fault
}

var presets = []preset{
	{"429", "Reminder limit reached", "answer 429, with Retry-After 60 s", refserver.Fault{
		Operation: refserver.SendReminder, Status: http.StatusTooManyRequests, RetryAfter: "60",
		Body: `{"message":"Too many requests","code":"rate_limited"}`,
	}},
	{"503", "Down for 10 requests", "answer 503, with Retry-After 1 s", refserver.Fault{Status: http.StatusServiceUnavailable, RetryAfter: "1", Times: 10}},
	{"500", "Next request fails", "answer 500", refserver.Fault{Status: http.StatusInternalServerError, Times: 1}},
	{"slow", "Slow answers", "answer after 5 seconds", refserver.Fault{Latency: 5 * time.Second}},
	{"lost", "Next send works, its answer is lost", "do the work, and lose the answer", refserver.Fault{Operation: refserver.Send, AfterWork: true, Reset: true, Times: 1}},
	{"reset", "Next connection is reset", "reset the connection", refserver.Fault{Reset: true, Times: 1}},
	{"json", "Next answer is broken JSON", "do the work, and answer with broken JSON", refserver.Fault{AfterWork: true, Body: `{"data":[{"id":`, Times: 1}},
}

// webhookPreset is a preset for deliveries.
type webhookPreset struct {
	Key, Button, What string
	fault             refserver.WebhookFault
}

var webhookPresets = []webhookPreset{
	{"drop", "Next delivery is lost", "lose it", refserver.WebhookFault{Drop: true, Times: 1}},
	{"duplicate", "Each arrives twice", "make it twice", refserver.WebhookFault{Duplicate: true}},
	{"late", "Next delivery is late", "make it a minute later, so that others overtake it", refserver.WebhookFault{Delay: time.Minute, Times: 1}},
	{"forged", "Next delivery is forged", "sign it with another secret", refserver.WebhookFault{Secret: "another secret", Times: 1}},
	{"stale", "Next timestamp is old", "make its timestamp an hour old", refserver.WebhookFault{Shift: -time.Hour, Times: 1}},
	{"untyped", "Next lacks webhookEvent", "leave webhookEvent out", refserver.WebhookFault{OmitType: true, Times: 1}},
}

type faultsView struct {
	Faults         []faultRow
	Operations     []refserver.Operation
	Webhooks       []refserver.WebhookState
	Presets        []preset
	WebhookPresets []webhookPreset
}

type faultRow struct {
	refserver.ActiveFault
	URL string // URL of the webhook to which the preset applies
}

func (c *console) faults(*http.Request) (page, error) {
	view := faultsView{Webhooks: c.server.Webhooks(), Operations: refserver.Operations(), Presets: presets, WebhookPresets: webhookPresets}
	for _, f := range c.server.Faults() {
		row := faultRow{ActiveFault: f}
		if f.WebhookFault != nil {
			for _, w := range view.Webhooks {
				if w.ID == f.WebhookFault.WebhookID {
					row.URL = w.URL
				}
			}
		}
		view.Faults = append(view.Faults, row)
	}
	return page{Title: "Faults", name: "faults", Live: "fault,request,delivery", Data: view}, nil
}

// addFault sets a preset. If the form has a number of times, the form's settings replace those of
// the preset.
func (c *console) addFault(r *http.Request) (string, error) {
	kind := r.PostFormValue("kind")
	times, err := strconv.Atoi(r.PostFormValue("times"))
	asIs := !r.PostForm.Has("times")
	if !asIs && (err != nil || times < 0) {
		return "", errors.New("write how often it happens: a number, or 0 for no limit")
	}
	if i := slices.IndexFunc(presets, func(p preset) bool { return p.Key == kind }); i >= 0 {
		f := presets[i].fault
		if !asIs {
			f.Operation, f.Times = refserver.Operation(r.PostFormValue("operation")), times
		}
		_, err = c.server.Fail(f)
		return done("faults", "set"), err
	}
	if i := slices.IndexFunc(webhookPresets, func(p webhookPreset) bool { return p.Key == kind }); i >= 0 {
		f := webhookPresets[i].fault
		if !asIs {
			f.WebhookID, f.Times = r.PostFormValue("webhook"), times
		}
		_, err = c.server.FailWebhooks(f)
		return done("faults", "set"), err
	}
	return "", errors.New("choose what goes wrong")
}

func (c *console) clearFaults(*http.Request) (string, error) {
	c.server.ClearFaults()
	return done("faults", "cleared"), nil
}

func (c *console) removeFault(r *http.Request) (string, error) {
	return done("faults", "removed"), c.server.RemoveFault(r.PostFormValue("id"))
}
