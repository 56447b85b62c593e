package endtoend_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

var (
	generated = flag.Int("generated", 3000, "requests of TestGeneratedRequests")
	seed      = flag.Uint64("generated.seed", 1, "seed of TestGeneratedRequests")
)

// TestGeneratedRequests makes requests from the descriptions, right and wrong ones, over one kept connection. Each gets a
// response that its description has, and leaves the connection to the next.
func TestGeneratedRequests(t *testing.T) {
	s := start(t, "--memory", "--token", "open sesame", "--seed", "../testdata/seed.yaml")
	g := &generator{Rand: rand.New(rand.NewPCG(*seed, 0)), ids: map[string][]string{}}
	var err error
	g.pdf, err = pdf.Draw("Offer", []string{"text"})
	require.NoError(t, err)
	operations := slices.Concat(
		described(t, "../../../docs/openapi.yaml", s.BaseURL, "x-api-key", s.APIKey),
		described(t, "../../../docs/control.yaml", s.BaseURL+wire.Prefix, "Authorization", "Bearer open sesame"))
	connection := &kept{host: strings.TrimPrefix(s.BaseURL, "http://")}
	defer connection.close()
	statuses := map[int]int{}
	for n := range *generated {
		op := operations[g.IntN(len(operations))]
		if op.route.Path == "/reset" && !g.one(8) {
			continue // so that there is more to act on
		}
		r, body := g.request(op)
		fail := func(err error) {
			t.Fatalf("request %d with -generated.seed %d: %s %s %v\n%.2000s\n%v", n, *seed, r.Method, r.URL, r.Header, body, err)
		}
		status, header, text, err := connection.send(r)
		if err == nil {
			err = op.check(r, status, header, text)
		}
		if err != nil {
			fail(err)
		}
		statuses[status]++
		g.learn(kindOf(op.route.Path), text)
		if op.route.Path == "/reset" && status == 200 {
			clear(g.ids)
		}
		if strings.HasPrefix(op.route.Path, "/faults/") { // they break connections
			all, err := http.NewRequest(http.MethodDelete, s.BaseURL+wire.Prefix+"/faults", nil)
			require.NoError(t, err)
			all.Header.Set("Authorization", "Bearer open sesame")
			if _, _, _, err = connection.send(all); err != nil {
				fail(err)
			}
		}
	}
	t.Log("statuses:", statuses, "connections:", connection.made)
	require.Less(t, connection.made, 1+*generated/100) // only for a fault, or a body that is not read to its end
	for _, status := range []int{200, 201, 204, 400, 403, 404, 422} {
		require.NotZero(t, statuses[status], status)
	}
}

// kept is a client with one connection, as long as no response announces its end. It is no http.Transport, because that
// also gives a connection up if a request takes more than 50 ms to be written.
type kept struct {
	host string
	conn net.Conn // nil: the next request dials
	from *bufio.Reader
	made int
}

func (k *kept) send(r *http.Request) (status int, header http.Header, text []byte, err error) {
	if k.conn == nil {
		if k.conn, err = net.Dial("tcp", k.host); err != nil {
			return 0, nil, nil, err
		}
		k.from = bufio.NewReader(k.conn)
		k.made++
	}
	k.conn.SetDeadline(time.Now().Add(time.Minute))
	writeErr := r.Write(k.conn) // a server that does not read the body may respond all the same
	resp, err := http.ReadResponse(k.from, r)
	if err != nil {
		return 0, nil, nil, errors.Join(err, writeErr)
	}
	text, err = io.ReadAll(resp.Body)
	if writeErr != nil && !resp.Close {
		err = errors.Join(err, writeErr)
	}
	if resp.Close {
		k.close()
	}
	return resp.StatusCode, resp.Header, text, err
}

func (k *kept) close() {
	if k.conn != nil {
		k.conn.Close()
		k.conn = nil
	}
}

// operation is one operation of a description, with the header that opens it.
type operation struct {
	base, header, secret string
	route                routers.Route
	parameters           openapi3.Parameters
}

// described returns the operations of a description, without streams, which do not end.
func described(t *testing.T, file, base, header, secret string) (all []operation) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile(file)
	require.NoError(t, err)
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(path)
		for _, method := range slices.Sorted(maps.Keys(item.Operations())) {
			op := item.Operations()[method]
			if ok := op.Responses.Status(200); ok != nil && ok.Value.Content["text/event-stream"] != nil {
				continue
			}
			all = append(all, operation{
				base: base, header: header, secret: secret, parameters: slices.Concat(item.Parameters, op.Parameters),
				route: routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op},
			})
		}
	}
	require.NotEmpty(t, all)
	return all
}

// check returns an error if the description does not have a response.
func (op operation) check(r *http.Request, status int, header http.Header, text []byte) error {
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if kind != "application/json" {
		options.ExcludeResponseBody = true
		described := op.route.Operation.Responses.Status(status)
		if described == nil {
			described = op.route.Operation.Responses.Default()
		}
		if described != nil && described.Value.Content[kind] == nil && (len(described.Value.Content) > 0 || len(text) > 0) {
			return fmt.Errorf("%d with media type %q: %.300s", status, kind, text)
		}
	}
	err := openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: &op.route, Options: options},
		Status:                 status, Header: header, Body: io.NopCloser(bytes.NewReader(text)), Options: options,
	})
	if err != nil {
		return fmt.Errorf("%d %.300s: %w", status, text, err)
	}
	return nil
}

// generator makes requests. It uses the ids that it has seen in responses.
type generator struct {
	*rand.Rand
	ids map[string][]string // the newest of each kind
	pdf []byte
}

// kindOf returns the kind of the records whose id a path has, as documents for /documents/{id}/sign.
func kindOf(path string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return kind
}

// one reports true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) request(op operation) (*http.Request, []byte) {
	path, query := op.route.Path, url.Values{}
	r := &http.Request{Method: op.route.Method, Header: http.Header{op.header: {op.secret}}}
	for _, p := range op.parameters {
		if !p.Value.Required && !g.one(4) {
			continue
		}
		name := p.Value.Name
		if name == "id" {
			name = kindOf(path) + "Id"
		}
		text := fmt.Sprint(g.value(name, p.Value.Schema, 0))
		switch p.Value.In {
		case openapi3.ParameterInPath:
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(text))
		case openapi3.ParameterInQuery:
			query.Add(p.Value.Name, text)
		default:
			r.Header.Set(p.Value.Name, strings.Map(func(c rune) rune { return max(c, ' ') }, text))
		}
	}
	var body []byte
	if op.route.Operation.RequestBody != nil {
		body = g.body(op.route.Operation.RequestBody.Value.Content["application/json"].Schema)
		r.Header.Set("Content-Type", "application/json")
	}
	switch g.IntN(50) { // what no schema says
	case 0:
		r.Header.Del(op.header)
	case 1:
		r.Header.Set("Content-Type", "text/plain")
	case 2:
		r.Header.Set("Content-Encoding", "gzip")
	case 3:
		query.Add(pick(g, "offset", "page", "limit", "x"), pick(g, "", "-1", "many", "1"))
	case 4:
		body = []byte(`{"documentId":"x"}`)
	case 5:
		r.Header.Set("Origin", "https://evil.example")
	}
	r.URL, _ = url.Parse(op.base + path)
	r.URL.RawQuery = query.Encode()
	r.ContentLength, r.Body = int64(len(body)), io.NopCloser(bytes.NewReader(body))
	if g.one(5) {
		r.ContentLength = -1
	} else if len(body) == 0 {
		r.Body = http.NoBody
	}
	return r, body
}

func (g *generator) body(schema *openapi3.SchemaRef) []byte {
	text, err := json.Marshal(g.value("", schema, 0))
	if err != nil {
		panic(err)
	}
	switch g.IntN(25) {
	case 0:
		return text[:len(text)/2]
	case 1:
		return []byte(pick(g, "", "null", "[]", "1", "{}{}", "\xff", "{\"a\":1,\"a\":2}", strings.Repeat("[", 20000)))
	}
	return text
}

// value returns a value that fits a schema, with a wrong one in it now and then.
func (g *generator) value(name string, ref *openapi3.SchemaRef, depth int) any {
	schema := ref.Value
	if depth > 0 && g.one(40) {
		return pick[any](g, nil, true, -1, 1e30, "", "\x00", "😀\u202e", strings.Repeat("x", 1500), []any{}, map[string]any{"x": 1})
	}
	if of := slices.Concat(schema.AnyOf, schema.OneOf, schema.AllOf); len(of) > 0 {
		return g.value(name, pick(g, of...), depth)
	}
	if len(schema.Enum) > 0 && !g.one(20) {
		return pick(g, schema.Enum...)
	}
	switch {
	case schema.Type.Is("object"):
		return g.object(schema, depth)
	case schema.Type.Is("array"):
		all := []any{}
		for range g.IntN(4) {
			all = append(all, g.value(name, schema.Items, depth+1))
		}
		return all
	case schema.Type.Is("boolean"):
		return g.one(2)
	case schema.Type.Is("integer"), schema.Type.Is("number"):
		return pick(g, 0, 1, 1, 2, 5, 100, 200, 503, -1, 1<<40)
	}
	return g.text(name, schema)
}

func (g *generator) object(schema *openapi3.Schema, depth int) map[string]any {
	all := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if slices.Contains(schema.Required, name) && !g.one(30) || g.one(3) && depth < 4 {
			all[name] = g.value(name, schema.Properties[name], depth+1)
		}
	}
	if g.one(30) {
		all["unknown"] = 1
	}
	return all
}

func (g *generator) text(name string, schema *openapi3.Schema) any {
	bytesOf := make([]byte, 16)
	for i := range bytesOf {
		bytesOf[i] = byte(g.Uint32())
	}
	digits := hex.EncodeToString(bytesOf)
	uuid := digits[:8] + "-" + digits[8:12] + "-4" + digits[13:16] + "-8" + digits[17:20] + "-" + digits[20:]
	lower := strings.ToLower(name)
	switch {
	case name == "wait", name == "timeout":
		return pick(g, "1ms", "0s", "x", "-1s") // nobody waits
	case strings.Contains(schema.Pattern, "ns|us"):
		return pick(g, "1s", "90s", "3d", "0", "-1h", "36501d", "soon")
	case strings.HasSuffix(lower, "id"), strings.Contains(lower, "token"), name == "documents", name == "about":
		if known := g.ids[kind(lower)]; len(known) > 0 && !g.one(6) {
			return pick(g, known...)
		}
		return pick(g, uuid, digits[:24], digits, "whk_1", "1", "..", "a b/ä")
	case schema.Format == "date-time", strings.Contains(schema.Pattern, "T\\d"):
		return pick(g, "2026-11-28T10:00:00.000Z", "2026-11-01", "2026-13-40T00:00:00.000Z", "9999-12-31T23:59:59.999Z")
	case schema.Extensions["contentEncoding"] != nil, schema.ContentEncoding != "", name == "pdf", name == "image":
		return base64.StdEncoding.EncodeToString(pick(g, g.pdf, bytesOf, nil))
	case strings.Contains(lower, "mail"), name == "signer", name == "to":
		return pick(g, "ann@example.com", "ben@example.com", "Ann <ann@example.com>", "nobody")
	case name == "url":
		return pick(g, "http://127.0.0.1:9/hook", "https://127.0.0.1:9", "ftp://x", "http://")
	}
	return pick(g, "Lease", "Client", "Offer", "[fee]", "", digits, "Zürich 😀")
}

// kind returns the kind of records whose id a field has, as documents for createdDocumentId.
func kind(lower string) string {
	for _, kind := range []string{"template", "form", "respon", "webhook", "document", "token", "fault", "deliver", "workspace"} {
		if strings.Contains(lower, kind) {
			return kind
		}
	}
	return lower
}

// learn remembers the ids and tokens of a response about records of a kind.
func (g *generator) learn(of string, text []byte) {
	var tree any
	if json.Unmarshal(text, &tree) == nil {
		g.walk(of, "", tree)
	}
}

func (g *generator) walk(of, name string, node any) {
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			g.walk(of, name, child)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(node)) {
			g.walk(of, key, node[key])
		}
	case string:
		lower := strings.ToLower(name)
		switch {
		case lower == "id":
			lower = of
		case of == "requests" || of == "faults": // where ids may be what a request had
			return
		case lower == "link":
			lower, node = "token", node[strings.LastIndex(node, "/")+1:]
		case !strings.HasSuffix(lower, "id"):
			return
		}
		known := g.ids[kind(lower)]
		if node != "" && !slices.Contains(known, node) {
			g.ids[kind(lower)] = append(known[max(0, len(known)-20):], node)
		}
	}
}
