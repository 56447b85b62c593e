package signforms_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/signformstest"
)

const nginxPage = "<html>\r\n<head><title>404 Not &amp; Found</title></head>\r\n<body>nginx</body></html>"

// TestError_gateway: a refusal whose body is a page or other text is not from the service.
func TestError_gateway(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		kind   error
		text   string // of Documents.Get
	}{
		{name: "page not found", status: 404, body: nginxPage, kind: signforms.ErrBadResponse, text: "get document: bad response (404): a gateway or proxy responded, not the service (404 Not & Found)"},
		{name: "text not found", status: 404, body: "404 page not found", kind: signforms.ErrBadResponse, text: "get document: bad response (404): 404 page not found (check the ids, the base URL and the endpoint)"},
		{name: "page that refuses a method", status: 405, body: nginxPage, kind: signforms.ErrBadResponse, text: "get document: bad response (405): a gateway or proxy responded, not the service (404 Not & Found)"},
		{name: "text that calls it invalid", status: 400, body: "Bad Request", kind: signforms.ErrBadResponse, text: "get document: bad response (400): Bad Request"},
		{name: "page that forbids", status: 403, body: "<!DOCTYPE html><title> Access denied </title>", kind: signforms.ErrForbidden, text: "get document: 403: a gateway or proxy responded, not the service (Access denied)"},
		{name: "proxy that wants credentials", status: 407, body: "<html><title>Proxy</title>", kind: signforms.ErrForbidden, text: "get document: 407: a gateway or proxy responded, not the service (Proxy) (check the credentials of the proxy)"},
		{name: "proxy without a body", status: 407, body: "", kind: signforms.ErrForbidden, text: "get document: 407: Proxy Authentication Required (check the credentials of the proxy)"},
		{name: "not found without a body", status: 404, body: "", kind: signforms.ErrNotFound, text: "get document: 404: Not Found (check the ids, the base URL and the endpoint)"},
		{name: "page with status 200", status: 200, body: nginxPage, kind: signforms.ErrBadResponse,
			text: "get document: bad response (200): a gateway or proxy responded, not the service (404 Not & Found); check the base URL"},
		{name: "JSON that is cut off", status: 404, body: `{"message":"No su`, kind: signforms.ErrNotFound, text: `get document: 404: {"message":"No su (check the ids, the base URL and the endpoint)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, call := range clienttest.Calls {
				requests := 0
				err := call.Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
					requests++
					return clienttest.Reply(req, c.status, c.body), nil
				})))
				require.Equal(t, 1, requests, call.Name)
				want := c.kind
				if foreign := c.body != "" && c.body[0] != '{'; call.SendsMail() && (c.status == 200 || foreign && (c.status == 404 || c.status == 405)) {
					want = signforms.ErrOutcomeUnknown
				}
				clienttest.RequireMatches(t, err, want)
				if call.Name == "Documents.Get" {
					require.EqualError(t, err, c.text)
				}
			}
		})
	}
}

// TestAll_gatewayInPlaceOfAPage reads a list of 100 records without totals. A response in the place of page 2 ends it as
// whole only if it is the service's.
func TestAll_gatewayInPlaceOfAPage(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
		want   error
	}{
		{name: "the service", status: 404, header: nil, body: `{"message":"no such page"}`, want: nil},
		{name: "a page", status: 404, header: nil, body: nginxPage, want: signforms.ErrBadResponse},
		{name: "text", status: 404, header: nil, body: "404 page not found", want: signforms.ErrBadResponse},
		{name: "nothing", status: 404, header: nil, body: "", want: signforms.ErrNotFound},
		{name: "a page that calls the limit invalid", status: 400, header: nil, body: nginxPage, want: signforms.ErrBadResponse},
		{name: "nothing that calls the limit invalid", status: 400, header: nil, body: " ", want: signforms.ErrInvalid},
		{name: "a cache", status: 404, header: http.Header{"Age": {"60"}}, body: `{"message":"no such page"}`, want: signforms.ErrUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := clienttest.Transport(func(req *http.Request) (*http.Response, error) {
				if req.URL.Query().Get("page") != "1" {
					resp := clienttest.Reply(req, c.status, c.body)
					for key := range c.header {
						resp.Header.Set(key, c.header.Get(key))
					}
					return resp, nil
				}
				limit, _ := strconv.Atoi(req.URL.Query().Get("limit"))
				page := strings.NewReplacer("documents", "respondents", "documentId", "respondentDocumentId").Replace(pageJSON(window(upTo(100), 1, limit), ""))
				return clienttest.Reply(req, 200, page), nil
			})
			found, err := clienttest.Scripted(t, rt).Respondents.FindSent(t.Context(), signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver}, func(string) bool { return true })
			require.Empty(t, found)
			if c.want == nil {
				require.NoError(t, err)
			} else {
				clienttest.RequireMatches(t, err, c.want)
			}
		})
	}
}

// TestList_fromACache: a response with an Age above 0 shows an older list.
func TestList_fromACache(t *testing.T) {
	const mine = `{"documentId":"` + clienttest.PDFID + `"}`
	for _, c := range []struct {
		age   string
		stale bool
	}{{age: "", stale: false}, {age: "0", stale: false}, {age: "soon", stale: false}, {age: "1", stale: true}, {age: " 300", stale: true},
		{age: "99999999999999999999", stale: true}} {
		t.Run("Age "+c.age, func(t *testing.T) {
			requests, body := 0, ""
			client := clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
				requests++
				resp := clienttest.Reply(req, 200, body)
				resp.Header.Set("Age", c.age)
				return resp, nil
			}))
			body = `{"documents":[` + mine + `],"respondents":[],"pagination":{"totalPages":1}}`
			page, err := client.Documents.List(t.Context(), signforms.DocumentListParams{})
			require.NoError(t, err)
			require.Len(t, page.Items, 1)
			_, err = client.Documents.Get(t.Context(), clienttest.PDFID)
			require.NoError(t, err)
			requests = 0
			_, err = client.Respondents.FindSent(t.Context(), signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver}, nil)
			require.Equal(t, 1, requests)
			if c.stale {
				clienttest.RequireMatches(t, err, signforms.ErrIncomplete)
				require.ErrorContains(t, err, " s old (Age)")
			} else {
				require.NoError(t, err)
			}
			body = `{"documents":[],"pagination":{"totalPages":1}}`
			_, err = client.Documents.Get(t.Context(), clienttest.PDFID)
			if c.stale {
				clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
			} else {
				clienttest.RequireMatches(t, err, signforms.ErrNotFound)
			}
		})
	}
}

// TestServer_noStore: no cache keeps what the service in a test responds with.
func TestServer_noStore(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	c := clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		req.URL.Host, req.URL.Scheme = strings.TrimPrefix(srv.URL, "http://"), "http"
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
		return resp, nil
	}))
	_, err := c.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.Error(t, err, "another key")
}

// TestList_cutOffJSON: a proxy that decompresses cut the JSON off and framed it as whole. Reads are repeated.
func TestList_cutOffJSON(t *testing.T) {
	whole := pageJSON([]int{1, 2}, `{"totalPages":1}`)
	for _, n := range []int{1, 20, strings.Index(whole, "}") + 1, len(whole) - 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for _, better := range []bool{true, false} {
				t.Run(fmt.Sprint(better), func(t *testing.T) {
					requests := 0
					c := clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
						if requests++; requests == 2 && better {
							return clienttest.Reply(req, 200, whole), nil
						}
						return clienttest.Reply(req, 200, whole[:n]), nil
					}), func(o *signforms.Options) { o.MaxAttempts = 3 })
					_, err := c.Documents.List(t.Context(), signforms.DocumentListParams{})
					if better {
						require.NoError(t, err)
						require.Equal(t, 2, requests)
						return
					}
					clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
					require.ErrorContains(t, err, "cut off")
					require.Equal(t, 3, requests)
					send := clienttest.CallOf(t, "Templates.Send")
					requests = 0
					clienttest.RequireMatches(t, send.Do(t.Context(), c), signforms.ErrOutcomeUnknown)
					require.Equal(t, 1, requests)
				})
			}
		})
	}
}
