package signformstest

import (
	"io"
	"net/http"
	"time"
)

// bodyTime is how long the body of a request may take to arrive, from the first look at it.
const bodyTime = time.Minute

// bodiesInTime ends requests whose body takes longer than bodyTime, whether a handler reads it or not. http.Server.ReadTimeout
// would also end the context of a handler that goes on for long after it has read everything.
func bodiesInTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &timedBody{ReadCloser: r.Body, conn: http.NewResponseController(w)}
		r.Body = body
		next.ServeHTTP(w, r)
		body.begin() // net/http reads what is left, to use the connection again
	})
}

// timedBody is for one goroutine, as all bodies.
type timedBody struct {
	io.ReadCloser
	conn       *http.ResponseController
	begun, all bool
}

func (b *timedBody) begin() {
	if !b.begun && !b.all {
		b.begun = true
		b.conn.SetReadDeadline(time.Now().Add(bodyTime)) // fails where a fault has taken over the connection
	}
}

func (b *timedBody) Read(p []byte) (int, error) {
	b.begin()
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && !b.all {
		b.all = true
		b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}
