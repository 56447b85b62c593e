package bench

import (
	_ "embed"
	"net/http"
	"strconv"
	"sync"
)

// APIKey is the key that [DocumentServer] accepts.
const APIKey = "0f9e7c21-2d5b-4b0e-9c8d-3a6f1e5b7c40"

//go:embed payloads/documents.json
var documentsJSON []byte

const pageSize = 100

// DocumentServer answers GET /get-documents with 100 documents, and with none behind the last page. The documents of all pages are equal except for their ids. The server
// does as little work as possible, so that a measurement shows the cost of the client.
type DocumentServer struct {
	documents int
	ids       []int
	pages     sync.Pool
}

// NewDocumentServer returns a server with this many documents, a multiple of 100.
func NewDocumentServer(documents int) *DocumentServer {
	return &DocumentServer{documents: documents, ids: ids(documentsJSON), pages: sync.Pool{New: func() any { return new([]byte) }}}
}

// ServeHTTP implements [http.Handler]. It answers 403 to another API key and 400 to another page size.
func (s *DocumentServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	page, err := strconv.Atoi(query.Get("page"))
	switch {
	case r.Header.Get("X-Api-Key") != APIKey:
		http.Error(w, `{"message":"forbidden","code":"forbidden"}`, http.StatusForbidden)
	case r.URL.Path != "/get-documents" || query.Get("limit") != strconv.Itoa(pageSize) || err != nil || page < 1:
		http.Error(w, `{"message":"page and limit=100, please","code":"invalid_input"}`, http.StatusBadRequest)
	default:
		s.write(w, page)
	}
}

func (s *DocumentServer) write(w http.ResponseWriter, page int) {
	b := s.pages.Get().(*[]byte)
	defer s.pages.Put(b)
	const head = `{"message":"Documents fetched successfully","documents":`
	body := append((*b)[:0], head...)
	if page <= s.documents/pageSize {
		body = append(body, documentsJSON...)
		renumber(body[len(head):], s.ids, uint64(page-1)*pageSize)
	} else {
		body = append(body, "[]"...)
	}
	body = append(body, `,"documentsCount":`...)
	body = strconv.AppendInt(body, int64(s.documents), 10)
	body = append(body, `,"formCount":0,"pagination":{"currentPage":`...)
	body = strconv.AppendInt(body, int64(page), 10)
	body = append(body, `,"totalPages":`...)
	body = strconv.AppendInt(body, int64(s.documents/pageSize), 10)
	body = append(body, `,"totalDocuments":`...)
	body = strconv.AppendInt(body, int64(s.documents), 10)
	body = append(body, `}}`...)
	*b = body
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}
