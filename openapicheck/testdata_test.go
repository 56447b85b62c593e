package openapicheck_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/openapicheck"
)

const (
	description = "../docs/openapi.yaml"
	testdata    = "../testdata"
)

// onlyOpen holds answers that a client must survive although the description does not list all they hold: unknown
// fields and statuses, and the old spelling of VOID.
var onlyOpen = []string{"list_documents_unknown", "list_documents_aliases"}

// A literal is a file of testdata/requests.
type literal struct {
	Method string
	Path   string
	Query  map[string]string
	Header map[string]string
	Body   json.RawMessage
}

func (l literal) request(t *testing.T) *http.Request {
	t.Helper()
	query := url.Values{}
	for k, v := range l.Query {
		query.Set(k, v)
	}
	r, err := http.NewRequest(l.Method, "https://api.example.com/prefix"+l.Path+"?"+query.Encode(), bytes.NewReader(l.Body))
	require.NoError(t, err)
	for k, v := range l.Header {
		r.Header.Set(k, v)
	}
	return r
}

func TestRequests(t *testing.T) {
	checker := load(t, openapicheck.Strict)
	for name, l := range requests(t) {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, checker.Request(l.request(t), l.Body))
		})
	}
}

func TestAnswers(t *testing.T) {
	strict, open := load(t, openapicheck.Strict), load(t, openapicheck.Open)
	all := requests(t)
	for name, body := range files(t, "answers") {
		t.Run(name, func(t *testing.T) {
			stem := strings.TrimSuffix(name, filepath.Ext(name))
			status, header := status(t, stem), http.Header{"Content-Type": {mediaType(t, name)}}
			if status == http.StatusTooManyRequests {
				header.Set("Retry-After", "180")
			}
			answered := 0
			for _, l := range answering(t, stem, all) {
				err := strict.Answer(l.request(t), status, header, body)
				if slices.Contains(onlyOpen, stem) {
					require.Error(t, err, "must not pass as described word by word")
					err = open.Answer(l.request(t), status, header, body)
				}
				require.NoError(t, err)
				answered++
			}
			require.Positive(t, answered, "no request in testdata has this answer")
		})
	}
}

func TestCheckerRefuses(t *testing.T) {
	checker := load(t, openapicheck.Strict)
	void := requests(t)["void_document"]
	answer := func(status int, contentType, body string) error {
		return checker.Answer(void.request(t), status, http.Header{"Content-Type": {contentType}}, []byte(body))
	}
	withQuery := func(name, value string) error {
		r := void.request(t)
		q := r.URL.Query()
		q.Add(name, value)
		r.URL.RawQuery = q.Encode()
		return checker.Request(r, void.Body)
	}
	withBody := func(rest string) error {
		return checker.Request(void.request(t), []byte(`{"documentId":"602c2631-2d49-4647-a609-75331ebb0338",`+rest))
	}
	noKey := void.request(t)
	noKey.Header.Del("x-api-key")
	wrongPath := void.request(t)
	wrongPath.URL.Path = "/void"
	wrongMethod := void.request(t)
	wrongMethod.Method = http.MethodPut

	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"no key":             {checker.Request(noKey, void.Body), "x-api-key is missing"},
		"path":               {checker.Request(wrongPath, void.Body), "no such path"},
		"method":             {checker.Request(wrongMethod, void.Body), "no such method"},
		"unknown query":      {withQuery("reason", "x"), `"reason" is not in the description`},
		"repeated query":     {withQuery("documentType", "PDF"), `"documentType" occurs 2 times`},
		"no body":            {checker.Request(void.request(t), nil), "value is required"},
		"unknown body field": {withBody(`"documentType":"PDF","x":1}`), "additional properties 'x'"},
		"condition":          {withBody(`"documentType":"PDF_TEMPLATE"}`), "missing property 'responseId'"},
		"unknown status":     {answer(402, "application/json", `{"message":"x"}`), "status is not supported"},
		"unknown field":      {answer(200, "application/json", `{"message":"x","y":1}`), `property "y" is unsupported`},
		"unknown enum":       {answer(200, "application/json", `{"message":"x","status":"VOIDED"}`), "/status: value is not one of the allowed values"},
		"missing field":      {answer(200, "application/json", `{}`), `property "message" is missing`},
		"media type":         {answer(409, "text/html", `x`), "media type text/html is not in the description"},
		"no media type":      {answer(200, "", `{"message":"x"}`), "Content-Type"},
	} {
		require.ErrorContains(t, c.err, c.want, name)
	}
}

func load(t *testing.T, reading openapicheck.Reading) *openapicheck.Checker {
	t.Helper()
	checker, err := openapicheck.Load(description, reading)
	require.NoError(t, err)
	return checker
}

func files(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	root := filepath.Join(testdata, folder)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[d.Name()], err = os.ReadFile(path)
		}
		return err
	}))
	require.NotEmpty(t, all)
	return all
}

func requests(t *testing.T) map[string]literal {
	t.Helper()
	all := map[string]literal{}
	for name, text := range files(t, "requests") {
		var l literal
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&l), name)
		all[strings.TrimSuffix(name, ".json")] = l
	}
	return all
}

// answering returns the requests that an answer file belongs to: the one whose name it begins with, or, for an error,
// all that describe its status.
func answering(t *testing.T, stem string, all map[string]literal) map[string]literal {
	t.Helper()
	found := map[string]literal{}
	if strings.HasPrefix(stem, "error_") {
		operations := load(t, openapicheck.Open).Operations()
		for name, l := range all {
			answer := operations[l.Method+" "+l.Path].Responses.Status(status(t, stem))
			if answer == nil || stem == "error_200_error" && !strings.HasPrefix(name, "send_template") {
				continue
			}
			found[name] = l
		}
		return found
	}
	names := []string{}
	for name := range all {
		if stem == name || strings.HasPrefix(stem, name+"_") {
			names = append(names, name)
		}
	}
	require.NotEmpty(t, names, stem)
	longest := slices.MaxFunc(names, func(a, b string) int { return len(a) - len(b) })
	found[longest] = all[longest]
	return found
}

func status(t *testing.T, stem string) int {
	t.Helper()
	rest, isError := strings.CutPrefix(stem, "error_")
	if !isError {
		return http.StatusOK
	}
	digits, _, _ := strings.Cut(rest, "_")
	code, err := strconv.Atoi(digits)
	require.NoError(t, err)
	return code
}

func mediaType(t *testing.T, name string) string {
	t.Helper()
	types := map[string]string{".json": "application/json", ".html": "text/html", ".txt": "text/plain"}
	require.Contains(t, types, filepath.Ext(name))
	return types[filepath.Ext(name)]
}
