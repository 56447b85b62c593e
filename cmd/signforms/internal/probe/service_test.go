package probe_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// imitation is a service that follows the interface's description, written without the reference service. Each knob makes it another
// service; the zero value of all is the wire format as it is assumed.
type imitation struct {
	records  int    // of each document; 0 means 1
	n        int    // documents
	dates    string // ignored, second, minute, day, zone, exclusive, micro, micro exclusive, updated, unix, refused, date, range, from
	pages    string // zero, ignored, named, last, offset, tens
	limits   string // ignored, cut, named, refused, unbounded
	sorts    string // ignored, ascending, reversed, name, random
	totals   string // page, absent, wrong, none
	filters  string // of documentId: ignored, named
	badID    string // unknown, 422, ignored
	unknown  string // status: ignored, empty, 422, all
	params   string // refused
	key      string // 401, taken, 200, 429, last
	missing  string // answer to paths that do not exist: echo, koa, fastify, spa, aws, json200, suggest
	absent   string // respondents, responses, both
	noSuch   string // answer to an unknown template or form: empty, koa, 400, tombstone
	errors   string // 7807, boom, fastify, nest, text, ok200
	created  string // seconds, numbers, zoneless, offset
	ids      string // numbers, upper, objectid
	status   string // in progress
	archived string // hidden
	front    string // firewall, challenge, spa, slow
	trouble  string // now and then: 503, 429
	ties     bool
	bom      bool // a byte order mark before each body
	moving   bool // a new document with every third request
	envelope string
	extra    map[string]any
	acts     string // of void and reminder: yes, 500, put, ignored, koa, unclear, taken409, taken422, taken404, near, remind409
	guard    string // answers one request for another workspace: html403, html404, 400, 409; always answers all of them
	others   string // the guard's errors, where they are not as errors says

	// These change a request before it is answered, the list of documents in it, an answer with another status than 200 or none, and the
	// answer about respondents, unless they return nil.
	ask         func(*http.Request)
	list        func(q url.Values, body map[string]any)
	gate        func(*http.Request) error
	respondents func(q url.Values) map[string]any

	mu      sync.Mutex
	count   int
	asked   []string
	acted   []string // each voids a document
	ended   bool     // the guard is gone
	blocked int      // the request from which on a firewall refuses all
}

type fakeDocument map[string]any

var fakeStart = time.Date(2026, 9, 3, 8, 17, 11, 217_000_000, time.UTC)

func (f *imitation) id(i int) string {
	sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
	hex := fmt.Sprintf("%x", sum)
	switch f.ids {
	case "numbers":
		return strconv.Itoa(1041 + i)
	case "objectid":
		return hex[:24]
	}
	return hex[:8] + "-" + hex[8:12] + "-4" + hex[12:15] + "-a" + hex[15:18] + "-" + hex[18:30]
}

// at is when a document was created.
func (f *imitation) at(i int) time.Time {
	if f.ties {
		i -= i % 5
	}
	return fakeStart.Add(time.Duration(i) * (37*time.Minute + 13*time.Second + 301*time.Millisecond))
}

func (f *imitation) printed(at time.Time) any {
	switch f.created {
	case "seconds":
		return at.Format("2006-01-02T15:04:05Z")
	case "numbers":
		return at.UnixMilli()
	case "zoneless":
		return at.Add(2 * time.Hour).Format("2006-01-02T15:04:05.000")
	case "offset":
		return at.In(time.FixedZone("", 7200)).Format("2006-01-02T15:04:05.000-07:00")
	}
	return at.Format("2006-01-02T15:04:05.000Z")
}

// untilUpdated is how long after it was created a document was changed.
func untilUpdated(i int) time.Duration { return time.Duration(i%3) * 90 * time.Minute }

func (f *imitation) document(i int) fakeDocument {
	id := any(f.id(i))
	if f.ids == "numbers" {
		id = 1041 + i
	}
	status := cmp.Or(f.status, "PENDING")
	signer := "PENDING"
	if i%4 == 1 {
		status, signer = "SIGNED", "SIGNED"
	}
	if i < len(f.acted) && f.acts != "renames" {
		status = "VOID"
	}
	return fakeDocument{"documentId": id, "documentName": fmt.Sprintf("Contract of %c", 'A'+(i*7)%26), "documentUrl": "https://files.example.org/1", "authorEmail": "zoe@example.org",
		"finishedPdfUrl": "https://files.example.org/2", "status": status, "signingType": "PDF", "isSigningOrder": false, "isArchived": i%10 == 3, "isAllSigned": status == "SIGNED",
		"signers": []any{map[string]any{"name": "Zoe Smith", "email": "zoe@example.org", "status": signer}}, "createdAt": f.printed(f.at(i)), "updatedAt": f.printed(f.at(i).Add(untilUpdated(i)))}
}

// RoundTrip answers a request without a network.
func (f *imitation) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Result(), nil
}

const fakeKey = "sk_test_4f9a1c77d2e8"

type fakeError struct {
	status  int
	message string
	code    string
}

func (e fakeError) Error() string { return e.message }

func (f *imitation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	f.asked = append(f.asked, r.Method+" "+r.URL.String())
	if f.moving && f.count%3 == 0 {
		f.n++
	}
	if f.trouble != "" && f.count%7 == 0 {
		status, _ := strconv.Atoi(f.trouble)
		w.Header().Set("Retry-After", "1")
		http.Error(w, "try again", status)
		return
	}
	switch f.front {
	case "firewall":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(403)
		fmt.Fprintf(w, "<html><title>Access denied</title>Incident %d</html>", f.count*7919)
		return
	case "challenge":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(503)
		fmt.Fprintf(w, "<!DOCTYPE html><title>Just a moment...</title>%x", f.count*7919)
		return
	case "spa":
		fmt.Fprint(w, "<!DOCTYPE html><div id=root></div>")
		return
	}
	if f.bom {
		w = marked{w}
	}
	if f.guarded(w, r) {
		return
	}
	if f.ask != nil {
		f.ask(r)
	}
	body, err := f.answer(r)
	if f.list != nil && err == nil && r.URL.Path == "/get-documents" {
		f.list(r.URL.Query(), body)
	}
	if err == nil {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(body)
		return
	}
	e := err.(fakeError)
	if e.status == -1 {
		f.noRoute(w, r)
		return
	}
	f.fail(w, r, e)
}

// marked writes a byte order mark first.
type marked struct{ http.ResponseWriter }

func (m marked) Write(text []byte) (int, error) {
	if _, err := io.WriteString(m.ResponseWriter, "\ufeff"); err != nil {
		return 0, err
	}
	return m.ResponseWriter.Write(text)
}

// guarded answers requests for other workspaces in the place of a service that ignores workspaces.
func (f *imitation) guarded(w http.ResponseWriter, r *http.Request) bool {
	if f.guard == "" || f.ended || r.Header.Get("Workspaceid") == "ws-1" {
		return false
	}
	kind, always := strings.CutPrefix(f.guard, "always ")
	f.ended = !always
	page, html := strings.CutPrefix(kind, "html")
	status, _ := strconv.Atoi(page)
	if html {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		fmt.Fprint(w, "<html><title>Not here</title></html>")
		return true
	}
	own := f.errors
	f.errors = cmp.Or(f.others, own)
	f.fail(w, r, fakeError{status, "not now", ""})
	f.errors = own
	return true
}

func (f *imitation) noRoute(w http.ResponseWriter, r *http.Request) {
	switch f.missing {
	case "echo":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(404)
		fmt.Fprintf(w, "<!DOCTYPE html><pre>Cannot %s %s</pre>", r.Method, r.URL.Path)
	case "fastify":
		w.WriteHeader(404)
		json.NewEncoder(w).Encode(map[string]any{"message": "Route " + r.Method + ":" + r.URL.RequestURI() + " not found", "error": "Not Found", "statusCode": 404})
	case "spa":
		fmt.Fprint(w, "<!DOCTYPE html><div id=root></div>")
	case "aws":
		w.WriteHeader(403)
		fmt.Fprint(w, `{"message":"Missing Authentication Token"}`)
	case "json200":
		fmt.Fprint(w, `{"documents":[],"respondents":[],"responses":[],"message":"nothing here"}`)
	case "suggest":
		w.WriteHeader(404)
		fmt.Fprintf(w, `{"message":"No route %s. Did you mean %s?","code":"not_found"}`, r.URL.Path, map[bool]string{true: "/send-reminders", false: "/"}[len(r.URL.Path) > 14 && len(r.URL.Path) < 18])
	default:
		w.WriteHeader(404)
		fmt.Fprint(w, "Not Found")
	}
}

func (f *imitation) fail(w http.ResponseWriter, r *http.Request, e fakeError) {
	body := map[string]any{"message": e.message, "code": e.code}
	switch f.errors {
	case "7807":
		w.Header().Set("Content-Type", "application/problem+json")
		body = map[string]any{"type": "about:blank", "title": http.StatusText(e.status), "status": e.status, "detail": e.message}
	case "boom":
		body = map[string]any{"statusCode": e.status, "error": http.StatusText(e.status), "message": e.message}
	case "fastify": // those of a schema have a code
		body = map[string]any{"statusCode": e.status, "error": http.StatusText(e.status), "message": e.message}
		if e.status == 400 {
			body["code"] = "FST_ERR_VALIDATION"
		}
	case "nest": // the faults of the inputs are a list
		body = map[string]any{"statusCode": e.status, "error": http.StatusText(e.status), "message": e.message}
		if e.status == 400 {
			body["message"] = []string{e.message}
		}
	case "no code":
		delete(body, "code")
	case "case":
		body = map[string]any{"Message": e.message, "Code": e.code}
	case "text":
		http.Error(w, e.message, e.status)
		return
	case "id":
		body["code"] = "9f3c2a71-55d0-4be2-8a41-0c6d1e7fb902"
	case "ok200":
		body, e.status = map[string]any{"success": false, "message": e.message, "code": e.code}, 200
	}
	w.WriteHeader(e.status)
	json.NewEncoder(w).Encode(body)
}

func (f *imitation) answer(r *http.Request) (map[string]any, error) {
	if key := r.Header.Get("X-Api-Key"); key != fakeKey && f.key != "taken" {
		status := 403
		if n, err := strconv.Atoi(f.key); err == nil {
			status = n
		}
		if status == 200 {
			return map[string]any{"success": false, "message": "bad key"}, nil
		}
		return nil, fakeError{status, "no such key", "forbidden"}
	}
	if f.gate != nil {
		if err := f.gate(r); err != nil {
			return nil, err
		}
	}
	path := r.URL.Path
	switch {
	case path == "/get-documents" && r.Method == "GET":
		return f.listing(r)
	case path == "/get-template-respondent" && r.Method == "GET" && f.absent != "respondents" && f.absent != "both":
		if f.respondents != nil {
			if body := f.respondents(r.URL.Query()); body != nil {
				return body, nil
			}
		}
		return f.ofUnknown(r, "templateId", "respondents")
	case path == "/get-form-responses" && r.Method == "GET" && f.absent != "responses" && f.absent != "both":
		return f.ofUnknown(r, "formId", "responses")
	case path == "/void-document" || path == "/send-reminder":
		return f.act(r)
	case f.acts == "near" && strings.HasPrefix(path, "/send-") && r.Method == "POST":
		f.acted = append(f.acted, path)
	}
	return nil, fakeError{status: -1}
}

func (f *imitation) act(r *http.Request) (map[string]any, error) {
	var body struct{ DocumentID string }
	json.NewDecoder(r.Body).Decode(&body)
	id := cmp.Or(r.URL.Query().Get("documentId"), body.DocumentID)
	method := "POST"
	if f.acts == "put" {
		method = "PUT"
	}
	if r.Method != method || f.acts == "absent" {
		return nil, fakeError{status: -1}
	}
	switch {
	case f.acts == "ignored":
		f.acted = append(f.acted, r.URL.Path)
		return map[string]any{"message": "done"}, nil
	case f.acts == "unclear":
		f.acted = append(f.acted, r.URL.Path)
		return map[string]any{"success": false, "message": "queue is slow"}, nil
	case strings.HasPrefix(f.acts, "taken"):
		f.acted = append(f.acted, r.URL.Path)
		status, _ := strconv.Atoi(f.acts[len("taken"):])
		return nil, fakeError{status, "not in this status", ""}
	case f.acts == "renames": // another document, and says that there is none
		f.acted = append(f.acted, r.URL.Path)
		return nil, fakeError{404, "not found", "not_found"}
	case f.acts == "remind409" && r.URL.Path == "/send-reminder":
		f.acted = append(f.acted, r.URL.Path)
		return nil, fakeError{409, "not in this status", "invalid_status"}
	case f.acts == "500":
		f.acted = append(f.acted, r.URL.Path)
		return nil, fakeError{500, "oops", ""}
	case f.acts == "koa":
		return nil, fakeError{status: -1}
	case len(id) != 36:
		return nil, fakeError{400, "documentId must be a UUID", "invalid_input"}
	}
	for i := range f.n {
		if f.id(i) == id {
			f.acted = append(f.acted, r.URL.Path)
			return map[string]any{"message": "done"}, nil
		}
	}
	return nil, fakeError{404, "no document " + id, "not_found"}
}

func (f *imitation) ofUnknown(r *http.Request, input, list string) (map[string]any, error) {
	id := r.URL.Query().Get(input)
	switch {
	case f.noSuch == "koa":
		return nil, fakeError{status: -1}
	case f.noSuch == "all" && id != "":
		return map[string]any{list: []any{map[string]any{"responseId": "r1", "respondentDocumentId": "r1"}}}, nil
	case f.noSuch == "tombstone":
		return nil, fakeError{404, "this was removed in 2025", "not_found"}
	case id == "" || f.noSuch == "400":
		return nil, fakeError{400, input + " is required", "invalid_input"}
	case f.noSuch == "empty":
		return map[string]any{list: []any{}}, nil
	}
	return nil, fakeError{404, "none with id " + id, "not_found"}
}
