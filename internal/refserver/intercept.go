package refserver

import (
	"bytes"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/api"
)

func (f Fault) matches(c *api.Call) bool {
	return (f.Operation == "" || api.Operation(f.Operation) == c.Operation) && (f.DocumentID == "" || c.Names(f.DocumentID))
}

func (f Fault) answers() bool { return f.Status != 0 || f.Body != "" }

// intercept stands around the work of a request.
func (s *Server) intercept(w http.ResponseWriter, r *http.Request, c *api.Call, work func(http.ResponseWriter)) {
	at, rule := s.Now(), s.faults.request(c)
	if rule == nil {
		work(w)
		return
	}
	f := *rule.Fault
	certain := f.answers() || f.Reset || f.Latency > 0 // whatever the work answers
	if certain {
		s.faults.settle(rule, at, true)
	}
	if !f.AfterWork {
		wait(r, f.Latency)
	}
	a := &answer{header: make(http.Header), status: http.StatusOK}
	if f.AfterWork || !f.answers() && !f.Reset {
		work(a)
	}
	if f.AfterWork {
		wait(r, f.Latency)
	}
	noticed := !f.Reset && f.edit(a)
	if !certain {
		s.faults.settle(rule, at, noticed)
	}
	if certain || noticed {
		c.Note("met a fault, so that it was to " + all(f.effects("its")))
	}
	if f.Reset {
		reset(w)
	}
	f.write(w, r, a)
}

// wait sleeps for d or until the client is gone. Either way the service goes on with the request.
func wait(r *http.Request, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

// reset breaks the connection, with a TCP reset where there is one, and does not return. The handler closes the connection
// once the request is in the log.
func reset(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
	}
	panic(http.ErrAbortHandler)
}

// answer keeps what the work answered.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// edit changes the work's answer as the fault says. It reports whether the client will notice the fault.
func (f Fault) edit(a *answer) bool {
	if f.answers() {
		a.header = http.Header{"Content-Type": {"application/json"}}
		a.status = http.StatusOK
		a.body.Reset()
		a.body.WriteString(f.Body)
	}
	if f.Status != 0 {
		a.status = f.Status
	}
	edited := (f.Unknown || f.WrongTypes) && f.editJSON(a)
	for name, value := range map[string]string{"Retry-After": f.RetryAfter, "Content-Type": f.ContentType} {
		if value != "" && value != a.header.Get(name) {
			a.header.Set(name, value)
			edited = true
		}
	}
	a.header.Set("Content-Length", strconv.Itoa(a.body.Len()))
	return f.answers() || edited ||
		f.Cut > 0 && f.Cut < a.body.Len() || f.Drip > 0 && a.body.Len() > 1
}

// editJSON reports whether it has changed anything.
func (f Fault) editJSON(a *answer) bool {
	var v any
	if json.Unmarshal(a.body.Bytes(), &v) != nil {
		return false // the test's own Body, not JSON at all
	}
	before, _ := json.Marshal(v)
	if f.Unknown {
		addUnknown(v)
	}
	if f.WrongTypes {
		v = wrongTypes(v)
	}
	after, err := json.Marshal(v)
	if err != nil {
		panic(err) // v came from JSON
	}
	if bytes.Equal(before, after) {
		return false
	}
	a.body.Reset()
	a.body.Write(append(after, '\n'))
	return true
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

// wrongTypes swaps strings with numbers and booleans, at every depth.
func wrongTypes(v any) any {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			v[i] = wrongTypes(e)
		}
		return v
	case map[string]any:
		for k, e := range v {
			v[k] = wrongTypes(e)
		}
		return v
	case string:
		return 12345
	case nil:
		return nil
	}
	return "a string"
}

// write sends the answer, cut or slowed as the fault says.
func (f Fault) write(w http.ResponseWriter, r *http.Request, a *answer) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	body := a.body.Bytes()
	cut := f.Cut > 0 && f.Cut < len(body)
	if cut {
		body = body[:f.Cut]
	}
	control := http.NewResponseController(w)
	if f.Drip == 0 {
		w.Write(body)
	}
	for i := 0; f.Drip > 0 && i < len(body) && r.Context().Err() == nil; i++ {
		if i > 0 {
			control.Flush()
			wait(r, f.Drip)
		}
		w.Write(body[i : i+1])
	}
	if cut {
		control.Flush()
		panic(http.ErrAbortHandler)
	}
}
