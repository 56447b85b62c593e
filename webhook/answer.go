package webhook

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// answer is the response to a delivery: a status and a constant JSON object, never a detail of the request.
type answer struct {
	status int
	body   string
}

var (
	answerOK           = answer{http.StatusOK, `{"status":"ok"}`}
	answerDuplicate    = answer{http.StatusOK, `{"status":"duplicate"}`}
	answerPayload      = answer{http.StatusBadRequest, `{"status":"invalid_payload"}`}
	answerUnauthorized = answer{http.StatusUnauthorized, `{"status":"unauthorized"}`}
	answerMethod       = answer{http.StatusMethodNotAllowed, `{"status":"method_not_allowed"}`}
	answerCutShort     = answer{http.StatusRequestTimeout, `{"status":"body_incomplete"}`}
	answerTooLarge     = answer{http.StatusRequestEntityTooLarge, `{"status":"too_large"}`}
	answerMediaType    = answer{http.StatusUnsupportedMediaType, `{"status":"unsupported_media_type"}`}
	answerFailed       = answer{http.StatusInternalServerError, `{"status":"failed"}`}
	answerUnavailable  = answer{http.StatusServiceUnavailable, `{"status":"unavailable"}`}
)

// write sends the answer. retryAfter is used by 503 only.
func (a answer) write(w http.ResponseWriter, retryAfter time.Duration) {
	header := w.Header()
	header["Content-Type"] = []string{"application/json"}
	switch a.status {
	case http.StatusMethodNotAllowed:
		header["Allow"] = []string{http.MethodPost}
	case http.StatusServiceUnavailable:
		header["Retry-After"] = []string{strconv.FormatInt(int64((retryAfter+time.Second-1)/time.Second), 10)}
	}
	w.WriteHeader(a.status)
	io.WriteString(w, a.body)
}

// outlivesGoroutine reports whether an answer reaches the sender although the goroutine that writes it ends itself: in HTTP/1, once
// it was flushed. HTTP/2 resets the stream of such a goroutine, and a writer without Flush, such as that of
// http.TimeoutHandler, keeps the answer until its handler returns. Where it does, a delivery needs no goroutine of its own,
// which takes as long as a small delivery.
func outlivesGoroutine(w http.ResponseWriter, r *http.Request) bool {
	for {
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = wrapper.Unwrap()
	}
	_, flushes := w.(http.Flusher)
	return flushes && r.ProtoMajor == 1
}

// writeWhole sends the answer from a goroutine that is about to exit, so that the server cannot complete the response.
func (a answer) writeWhole(w http.ResponseWriter, retryAfter time.Duration) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	w.Header()["Connection"] = []string{"close"} // as the server will; the sender must not use it again
	a.write(w, retryAfter)
	http.NewResponseController(w).Flush() // an error means that the answer is lost; there is nobody to tell
}
