package console

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

type clockView struct {
	Now     time.Time
	Pending []deliveryRow
}

func (c *console) clock(*http.Request) (page, error) {
	pending, _ := c.server.FindDeliveries(signformstest.DeliveryFilter{Status: signformstest.DeliveryPending, Limit: logSize})
	return page{Title: "Clock", name: "clock", Live: "clock,delivery", Data: clockView{Now: c.server.Now(), Pending: c.rows(pending)}}, nil
}

// maxAdvance is how far one press of the button can move the clock.
const maxAdvance = 366 * 24 * time.Hour

func (c *console) advance(r *http.Request) (string, error) {
	d, err := duration(r.PostFormValue("by"))
	if err != nil {
		return "", err
	}
	return done("clock", "advanced"), c.server.TryAdvance(r.Context(), d)
}

// duration reads a duration of Go, or days as in 3d.
func duration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	d, err := time.ParseDuration(text)
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, bad := strconv.ParseFloat(days, 64)
		d, err = time.Duration(n*float64(24*time.Hour)), bad
	}
	if err != nil || d < time.Millisecond || d > maxAdvance {
		return 0, errors.New("write how far to move the clock, as in 90m, 72h or 3d, up to 366d")
	}
	return d, nil
}

type faultsView struct {
	Faults     []faultRow
	Operations []signforms.Operation
	Webhooks   []signformstest.WebhookState
}

type faultRow struct {
	ID, On, What      string
	Matched, Happened int
}

func (c *console) faults(*http.Request) (page, error) {
	view := faultsView{Webhooks: c.server.Webhooks(), Operations: signforms.Operations()}
	for _, f := range c.server.Faults() {
		view.Faults = append(view.Faults, rowOf(f))
	}
	return page{Title: "Faults", name: "faults", Live: "fault", Data: view}, nil
}

// shownFault is how many bytes of a fault's Body the page shows.
const shownFault = 200

func rowOf(f signformstest.ActiveFault) faultRow {
	row := faultRow{ID: f.ID, Matched: f.Matched, Happened: f.Happened}
	if f.Fault != nil {
		if more := len(f.Fault.Body) - shownFault; more > 0 {
			f.Fault.Body = strings.ToValidUTF8(f.Fault.Body[:shownFault], "") + fmt.Sprintf("…(%d bytes more)", more)
		}
		row.On, row.What = "requests "+string(f.Fault.Operation), set(fmt.Sprintf("%+v", *f.Fault))
	} else {
		row.On, row.What = "deliveries "+f.WebhookFault.EventType, set(fmt.Sprintf("%+v", *f.WebhookFault))
	}
	return row
}

// set leaves the empty fields out of a printed struct.
func set(printed string) string {
	var some []string
	for _, field := range strings.Fields(strings.Trim(printed, "{}")) {
		_, value, _ := strings.Cut(field, ":")
		if value != "" && value != "0" && value != "false" && value != "0s" {
			some = append(some, field)
		}
	}
	return strings.Join(some, ", ")
}

func (c *console) addFault(r *http.Request) (string, error) {
	times, err := strconv.Atoi(r.PostFormValue("times"))
	if err != nil || times < 0 {
		return "", errors.New("write how often it happens: a number, or 0 for no limit")
	}
	switch kind := r.PostFormValue("kind"); kind {
	case "reset", "500", "503", "429", "lost", "slow":
		f := signformstest.Fault{Operation: signforms.Operation(r.PostFormValue("operation")), Times: times}
		switch kind {
		case "reset":
			f.Reset = true
		case "lost":
			f.Reset, f.AfterWork = true, true
		case "slow":
			f.Latency = 5 * time.Second
		default:
			f.Status, _ = strconv.Atoi(kind) // one of the three above
		}
		_, err = c.server.TryFail(f)
	case "drop", "duplicate", "forged", "stale", "untyped":
		f := signformstest.WebhookFault{WebhookID: r.PostFormValue("webhook"), Times: times}
		switch kind {
		case "drop":
			f.Drop = true
		case "duplicate":
			f.Duplicate = true
		case "forged":
			f.Secret = "another secret"
		case "stale":
			f.Shift = -time.Hour
		case "untyped":
			f.OmitType = true
		}
		_, err = c.server.TryFailWebhooks(f)
	default:
		err = errors.New("choose what goes wrong")
	}
	return done("faults", "set"), err
}

func (c *console) removeFault(r *http.Request) (string, error) {
	return done("faults", "removed"), c.server.RemoveFault(r.PostFormValue("id"))
}
