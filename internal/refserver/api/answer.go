package api

import (
	"maps"
	"net"
	"net/http"
	"slices"
)

// Answer is the response to a request. The zero Answer resets the connection.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Cut    int // the connection breaks after this many bytes of the body; 0, or at least its length: not at all
}

func answerOf(status int, media string, body []byte) Answer {
	return Answer{Status: status, Header: http.Header{"Content-Type": {media}}, Body: body}
}

// lost reports whether the client does not get the response, or only a part of it.
func (a Answer) lost() bool { return a.Status == 0 || a.Cut > 0 && a.Cut < len(a.Body) }

// send writes the response, or the part of it that is not lost.
func (a Answer) send(w http.ResponseWriter) {
	if a.Status == 0 {
		reset(w)
	}
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	if !a.lost() {
		w.Write(a.Body) // Write fails if the client has gone, which does not matter here
		return
	}
	w.Write(a.Body[:a.Cut])
	http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// reset breaks the connection, with a TCP reset if possible, and does not return.
func reset(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// maxAnswer is how many bytes of a response's body a Record contains.
const maxAnswer = 4 << 10

// answered records a response.
func (r *Record) answered(a Answer) {
	r.StatusCode, r.AnswerHeader, r.AnswerLost = a.Status, a.Header, a.lost()
	r.Answer = slices.Clone(a.Body[:min(len(a.Body), maxAnswer)])
}
