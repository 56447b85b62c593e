package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/signforms/signforms-go"
)

// pair is a call of the SDK and the same by hand: with net/http, io.ReadAll and encoding/json into structs with the same fields.
type pair struct{ sdk, hand func(context.Context) error }

// calls get one document and a page of 100 from a server that answers with fixed bytes.
type calls struct{ one, list pair }

func newCalls() (c calls, stop func(), err error) {
	var documents []json.RawMessage
	if err := json.Unmarshal(documentsJSON, &documents); err != nil {
		return calls{}, nil, err
	}
	mux := http.NewServeMux()
	serve := func(path, documents string, count int) {
		body := fmt.Sprintf(`{"message":"Documents fetched successfully","documents":[%s],"documentsCount":%d,"formCount":0,`+
			`"pagination":{"currentPage":1,"totalPages":1,"totalDocuments":%d}}`, documents, count, count)
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = io.WriteString(w, body)
		})
	}
	serve("/one/get-documents", string(documents[0]), 1)
	serve("/list/get-documents", strings.TrimSuffix(strings.TrimPrefix(string(documentsJSON), "["), "]"), pageSize)
	server := httptest.NewServer(mux)
	stop = func() { http.DefaultClient.CloseIdleConnections(); server.Close() }
	one, err := signforms.New(server.URL+"/one", APIKey, nil)
	if err != nil {
		stop()
		return calls{}, nil, err
	}
	list, err := signforms.New(server.URL+"/list", APIKey, nil)
	if err != nil {
		stop()
		return calls{}, nil, err
	}
	const id = "035042b2-8bac-41fc-82c3-3e742391a889" // the first document in payloads/documents.json
	return calls{
		one: pair{
			func(ctx context.Context) error { _, err := one.Documents.Get(ctx, id); return err },
			byHand(server.URL+"/one/get-documents?documentType=PDF&documentId="+id, 1),
		},
		list: pair{
			func(ctx context.Context) error {
				page, err := list.Documents.List(ctx, signforms.DocumentListParams{Limit: pageSize})
				if err == nil && len(page.Items) != pageSize {
					err = fmt.Errorf("got %d documents, want %d", len(page.Items), pageSize)
				}
				return err
			},
			byHand(server.URL+"/list/get-documents?documentType=PDF&limit=100", pageSize),
		},
	}, stop, nil
}

// byHand returns a function that gets an answer without a client, and checks the number of documents in it.
func byHand(url string, want int) func(context.Context) error {
	return func(ctx context.Context) error {
		answer, err := getByHand(ctx, url)
		if err == nil && len(answer.Documents) != want {
			err = fmt.Errorf("got %d documents, want %d", len(answer.Documents), want)
		}
		return err
	}
}
