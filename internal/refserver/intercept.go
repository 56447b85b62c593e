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
	f, id, ok := s.faults.request(c, s.Now())
	if !ok {
		work(w)
		return
	}
	c.Note("met the fault " + id)
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
	if f.Reset {
		reset(w)
	}
	f.edit(a)
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

// edit changes the work's answer as the fault says.
func (f Fault) edit(a *answer) {
	if f.answers() {
		a.header = http.Header{"Content-Type": {"application/json"}}
		a.status = http.StatusOK
		a.body.Reset()
		a.body.WriteString(f.Body)
	}
	if f.Status != 0 {
		a.status = f.Status
	}
	if f.Unknown || f.WrongTypes {
		f.editJSON(a)
	}
	for name, value := range map[string]string{"Retry-After": f.RetryAfter, "Content-Type": f.ContentType} {
		if value != "" {
			a.header.Set(name, value)
		}
	}
	a.header.Set("Content-Length", strconv.Itoa(a.body.Len()))
}

func (f Fault) editJSON(a *answer) {
	var v any
	if json.Unmarshal(a.body.Bytes(), &v) != nil {
		return // the test's own Body, not JSON at all
	}
	if f.Unknown {
		addUnknown(v)
	}
	if f.WrongTypes {
		v = wrongTypes(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // v came from JSON
	}
	a.body.Reset()
	a.body.Write(append(text, '\n'))
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
