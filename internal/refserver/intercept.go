package refserver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/api"
)

func (f Fault) matches(c *api.Call) bool {
	return (f.Operation == "" || f.Operation == c.Operation) && (f.DocumentID == "" || c.Names(f.DocumentID))
}

func (f Fault) answers() bool { return f.Status != 0 || f.Body != "" }

// intercept applies the faults before and after the work of a request.
func (s *Server) intercept(ctx context.Context, c *api.Call, work func() api.Answer) api.Answer {
	f, id, ok := s.faults.request(c, s.Now())
	if !ok {
		return work()
	}
	c.Note("the fault applied: " + id)
	var a api.Answer
	if !f.AfterWork {
		wait(ctx, f.Latency)
	}
	if f.AfterWork || !f.answers() && !f.Reset {
		a = work()
	}
	if f.AfterWork {
		wait(ctx, f.Latency)
	}
	if f.Reset {
		return api.Answer{}
	}
	return f.edit(a)
}

// wait sleeps for d or until the client is gone. In both cases the service continues with the
// request.
func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// edit changes the response as the fault requires.
func (f Fault) edit(a api.Answer) api.Answer {
	if f.answers() {
		a = api.Answer{Status: http.StatusOK, Header: http.Header{}, Body: []byte(f.Body)}
		if f.Body != "" {
			a.Header.Set("Content-Type", "application/json")
		}
	}
	if f.Status != 0 {
		a.Status = f.Status
	}
	var v any
	if f.Unknown && json.Unmarshal(a.Body, &v) == nil { // a fault's own Body may not be JSON
		addUnknown(v)
		a.Body, _ = json.Marshal(v) // v was decoded from JSON
	}
	if f.RetryAfter != "" {
		a.Header.Set("Retry-After", f.RetryAfter)
	}
	a.Cut = f.Cut
	return a
}

// addUnknown gives every object a field that no client knows, and every status and signingType a new value.
func addUnknown(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			addUnknown(e)
		}
	case map[string]any:
		for k, e := range v {
			addUnknown(e)
			if _, text := e.(string); text && (k == "signingType" || strings.HasSuffix(strings.ToLower(k), "status")) {
				v[k] = "FROM_THE_FUTURE"
			}
		}
		v["fieldFromTheFuture"] = map[string]any{"nested": []any{1, "two", nil}}
	}
}
