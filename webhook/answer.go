package webhook

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// answer is what the sender of a delivery is told: a status and a constant JSON object, never a detail of the request.
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
	case http.StatusRequestTimeout, http.StatusRequestEntityTooLarge:
		// What is left of the body is not worth reading to save the connection.
		header["Connection"] = []string{"close"}
	case http.StatusServiceUnavailable:
		header["Retry-After"] = []string{strconv.Itoa(int((retryAfter + time.Second - 1) / time.Second))}
	}
	w.WriteHeader(a.status)
	io.WriteString(w, a.body)
}

// writeWhole sends the answer from a goroutine that is about to end, so that the server will not finish it.
func (a answer) writeWhole(w http.ResponseWriter, retryAfter time.Duration) {
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	a.write(w, retryAfter)
	http.NewResponseController(w).Flush() // without it the answer is lost; nobody is left to be told
}
