// Package openapicheck holds HTTP exchanges against docs/openapi.yaml. It has a module of its own, so that an OpenAPI
// validator does not enter the requirements of the SDK, and is meant for this repository's tests.
//
// Start with [Load]; then [Checker.Request] and [Checker.Answer] for single messages, or a [Recorder] as the transport
// of a client under test.
package openapicheck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// Reading says how to take what the description leaves open.
type Reading int

const (
	// Open takes the description as a client must: unknown fields and unknown statuses are fine.
	Open Reading = iota
	// Strict also refuses fields that are not listed and values outside an x-extensible-enum. Our own client and
	// reference service have no reason to send either.
	Strict
)

// A Checker tells whether messages keep to an OpenAPI description. It is safe for concurrent use.
type Checker struct {
	doc     *openapi3.T
	options *openapi3filter.Options
	strict  bool
}

// Load reads and validates the description in file, including its inline examples.
func Load(file string, reading Reading) (*Checker, error) {
	doc, err := openapi3.NewLoader().LoadFromFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, fmt.Errorf("validating %s: %w", file, err)
	}
	if reading == Strict {
		if doc, err = closed(doc); err != nil {
			return nil, fmt.Errorf("closing %s: %w", file, err)
		}
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus:             true,
		RejectWhenRequestBodyNotSpecified: true,
		SkipSettingDefaults:               true,
		MultiError:                        true,
		AuthenticationFunc:                openapi3filter.NoopAuthenticationFunc, // the key itself is checked in Request
	}
	options.WithCustomSchemaErrorFunc(func(err *openapi3.SchemaError) string {
		return fmt.Sprintf("/%s: %s", strings.Join(err.JSONPointer(), "/"), err.Reason)
	})
	return &Checker{doc: doc, strict: reading == Strict, options: options}, nil
}

// Request returns what is wrong with a request, or nil. body is what r carries; r.Body is neither read nor changed.
func (c *Checker) Request(r *http.Request, body []byte) error {
	in, err := c.input(r, body)
	if err != nil {
		return err
	}
	errs := []error{openapi3filter.ValidateRequest(r.Context(), in)}
	if r.Header.Get("x-api-key") == "" {
		errs = append(errs, errors.New("header x-api-key is missing"))
	}
	if c.strict {
		errs = append(errs, undeclared(in.Route.Operation, r.URL.Query()))
	}
	return named(in.Route, "request", errors.Join(errs...))
}

// Answer returns what is wrong with an answer to r, or nil. Of a body that is not JSON only the media type is checked.
func (c *Checker) Answer(r *http.Request, status int, header http.Header, body []byte) error {
	in, err := c.input(r, nil)
	if err != nil {
		return err
	}
	options := *c.options
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return named(in.Route, fmt.Sprintf("answer %d", status), fmt.Errorf("Content-Type: %w", err))
	}
	if mediaType != "application/json" {
		options.ExcludeResponseBody = true
		err = otherMedia(in.Route.Operation, status, mediaType)
	}
	return named(in.Route, fmt.Sprintf("answer %d", status), errors.Join(err,
		openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: in,
			Status:                 status,
			Header:                 header,
			Body:                   io.NopCloser(bytes.NewReader(body)),
			Options:                &options,
		})))
}

// Operations returns method and path of everything described, such as "GET /get-documents".
func (c *Checker) Operations() map[string]*openapi3.Operation {
	all := map[string]*openapi3.Operation{}
	for p, item := range c.doc.Paths.Map() {
		for method, op := range item.Operations() {
			all[method+" "+p] = op
		}
	}
	return all
}

// input finds the operation of r. The paths of the description are single segments, so whatever stands before the last
// one is the base URL's prefix.
func (c *Checker) input(r *http.Request, body []byte) (*openapi3filter.RequestValidationInput, error) {
	p := "/" + path.Base(r.URL.Path)
	item := c.doc.Paths.Value(p)
	if item == nil {
		return nil, fmt.Errorf("%s %s: no such path in the description", r.Method, p)
	}
	op := item.GetOperation(r.Method)
	if op == nil {
		return nil, fmt.Errorf("%s %s: no such method in the description", r.Method, p)
	}
	copied := r.Clone(r.Context())
	copied.Body, copied.GetBody = http.NoBody, nil // body counts, not what r could repeat
	copied.ContentLength = int64(len(body))
	if len(body) > 0 {
		copied.Body = io.NopCloser(bytes.NewReader(body))
	}
	return &openapi3filter.RequestValidationInput{
		Request: copied,
		Options: c.options,
		Route:   &routers.Route{Spec: c.doc, Path: p, PathItem: item, Method: r.Method, Operation: op},
	}, nil
}

func named(route *routers.Route, what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %s: %w", route.Method, route.Path, what, err)
}

// undeclared refuses query parameters that the operation does not list, or that occur more than once.
func undeclared(op *openapi3.Operation, query url.Values) error {
	var errs []error
	for name, values := range query {
		if op.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			errs = append(errs, fmt.Errorf("query parameter %q is not in the description", name))
		}
		if len(values) != 1 {
			errs = append(errs, fmt.Errorf("query parameter %q occurs %d times", name, len(values)))
		}
	}
	return errors.Join(errs...)
}

func otherMedia(op *openapi3.Operation, status int, mediaType string) error {
	answer := op.Responses.Status(status)
	if answer == nil {
		return nil // ValidateResponse says so
	}
	if answer.Value.Content.Get(mediaType) == nil {
		return fmt.Errorf("media type %s is not in the description", mediaType)
	}
	return nil
}

// closed returns doc with every object and enumeration final.
func closed(doc *openapi3.T) (*openapi3.T, error) {
	text, err := doc.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	walk(tree, closeSchema)
	if text, err = json.Marshal(tree); err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
}

func walk(node any, visit func(map[string]any)) {
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			walk(child, visit)
		}
	case map[string]any:
		visit(node)
		for _, child := range node {
			walk(child, visit)
		}
	}
}

// closeSchema makes an object with listed properties final, and an open enumeration a closed one.
func closeSchema(node map[string]any) {
	if _, listed := node["properties"].(map[string]any); listed && node["type"] == "object" {
		node["additionalProperties"] = false
	}
	if values, ok := node["x-extensible-enum"]; ok {
		node["enum"] = values
	}
}
