package console

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver"
)

type clockView struct {
	Now     time.Time
	Pending []deliveryRow
}

func (c *console) clock(*http.Request) (page, error) {
	pending, _ := c.server.FindDeliveries(func(d refserver.Delivery) bool { return d.Status == refserver.DeliveryPending }, 0, logSize)
	return page{Title: "Clock", name: "clock", Live: "clock,delivery", Data: clockView{Now: c.server.Now(), Pending: c.rows(pending)}}, nil
}

// maxAdvance is the longest time by which one press of the button can move the clock.
const maxAdvance = 366 * 24 * time.Hour

func (c *console) advance(r *http.Request) (string, error) {
	d, err := duration(r.PostFormValue("by"))
	if err != nil {
		return "", err
	}
	return done("clock", "advanced"), c.server.Advance(r.Context(), d)
}

// duration reads a Go duration, or days such as 3d.
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
