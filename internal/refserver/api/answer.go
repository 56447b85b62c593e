package api

import (
	"maps"
	"net"
	"net/http"
	"slices"
)

// Answer is what a request is answered with. The zero Answer resets the connection.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Cut    int // the connection breaks after this many bytes of the body; 0, or no fewer than it has: not at all
}

func answerOf(status int, media string, body []byte) Answer {
	return Answer{Status: status, Header: http.Header{"Content-Type": {media}}, Body: body}
}

// lost reports whether the client does not get the answer, or not all of it.
func (a Answer) lost() bool { return a.Status == 0 || a.Cut > 0 && a.Cut < len(a.Body) }

// send writes the answer, as far as it is not lost.
func (a Answer) send(w http.ResponseWriter) {
	if a.Status == 0 {
		reset(w)
	}
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	if !a.lost() {
		w.Write(a.Body) // fails when the client has gone, which does not matter here
		return
	}
	w.Write(a.Body[:a.Cut])
	http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// reset breaks the connection, with a TCP reset where there is one, and does not return.
func reset(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// maxAnswer is how much of an answer's body a Record has.
const maxAnswer = 4 << 10

// answered records an answer.
func (r *Record) answered(a Answer) {
	r.StatusCode, r.AnswerHeader, r.AnswerLost = a.Status, a.Header, a.lost()
	r.Answer = slices.Clone(a.Body[:min(len(a.Body), maxAnswer)])
}
