package openapicheck_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/openapicheck"
)

func answerFile(t *testing.T, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(testdata, "answers", name))
	require.NoError(t, err)
	return body
}

func TestRecorderPassesOnUnchanged(t *testing.T) {
	void, answer := requests(t)["void_document"], answerFile(t, "void_document.json")
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Write(answer)
	}))
	defer server.Close()
	recorder := openapicheck.NewRecorder(load(t, openapicheck.Strict), server.Client().Transport)

	r := to(t, server, void)
	res, err := recorder.RoundTrip(r)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, string(void.Body), string(got), "the body that the server received")
	require.Equal(t, string(answer), string(body), "the body that the caller received")
	require.NoError(t, recorder.Err())
	require.Equal(t, []openapicheck.Exchange{
		{Method: "POST", URL: r.URL, Sent: void.Body, Status: 200, Received: answer},
	}, recorder.Exchanges())
}

func TestRecorderNotesBothSides(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"messages":"x"}`)
	}))
	defer server.Close()
	recorder := openapicheck.NewRecorder(load(t, openapicheck.Strict), nil)

	void := requests(t)["void_document"]
	void.Body = []byte(`{"documentID":"x"}`)
	res, err := recorder.RoundTrip(to(t, server, void))
	require.NoError(t, err, "what is wrong must be noted, not returned: the client under test goes on as without a recorder")
	require.NoError(t, res.Body.Close())
	require.ErrorContains(t, recorder.Err(), "request: ")
	require.ErrorContains(t, recorder.Err(), "answer 200: ")
}

// to aims the request of a literal at server, below a prefix.
func to(t *testing.T, server *httptest.Server, l literal) *http.Request {
	t.Helper()
	r := l.request(t)
	r.URL.Scheme, r.URL.Host = "http", server.Listener.Addr().String()
	r.Host = ""
	return r
}
