package control_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// textInputs returns the strings in the bodies of requests, by the name of the schema, or the path of the request if it has none, and
// the name of the field.
func textInputs(doc *openapi3.T) map[string]*openapi3.Schema {
	found := map[string]*openapi3.Schema{}
	var walk func(name string, ref *openapi3.SchemaRef)
	walk = func(name string, ref *openapi3.SchemaRef) {
		if _, component, named := strings.Cut(ref.Ref, "#/components/schemas/"); named {
			name = component
		}
		schema := ref.Value
		switch {
		case schema.Type.Is("string"):
			found[name] = schema
		case schema.Type.Is("array"):
			walk(name, schema.Items)
		case schema.AdditionalProperties.Schema != nil:
			walk(name, schema.AdditionalProperties.Schema)
		}
		for field, property := range schema.Properties {
			walk(name+" "+field, property)
		}
	}
	for path, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if operation.RequestBody != nil {
				walk(path, operation.RequestBody.Value.Content["application/json"].Schema)
			}
		}
	}
	return found
}

// unbounded are the strings that need no maxLength, and why.
var unbounded = map[string]string{
	"DeliveryFault omitHeader": "is one of four",
	"Duration":                 "is a length of time", "SignerName": "is looked up", "Origin userAgent": "is cut",
	"FieldValue name": "is looked up", "PDFField role": "is looked up", "Webhook documents": "are looked up",
	"RequestFault operation": "is one of a list", "RequestFault documentId": "has the form of an id",
	"DeliveryFault webhookId": "is looked up", "DeliveryFault documentId": "has the form of an id", "DeliveryFault eventType": "is one of a list",
	"/relays/{id} events": "are of a list", "/relays/{id} documents": "are looked up",
	"/relays/{id}/attempts/{attempt} error":  "is cut, as all answers to deliveries are",
	"/relays/{id}/attempts/{attempt} header": "is bounded as a whole, as those of all answers to deliveries are",
}

type fields = map[string]any

// bounded returns a function for each string with a maxLength. It makes a request with the string.
func bounded(t *testing.T, server *refserver.Server, c *wire.Client) map[string]func(s string) error {
	post := func(path string, in any) error { return c.Post(t.Context(), path, in, nil) }
	document := func(d fields, signer fields) error {
		in := fields{"name": "Lease", "signers": []any{signer}}
		maps.Copy(in, d)
		return post("/documents", in)
	}
	ann := fields{"name": "Ann", "email": "ann@example.com"}
	signed := func(act string, in fields) error {
		d := refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}}
		in["signer"] = "ann@example.com"
		return post("/documents/"+server.AddDocument(d)+"/"+act, in)
	}
	value := func(v fields) error {
		return signed("sign", fields{"fields": []any{v}})
	}
	place := func(name, role string) fields {
		return fields{"name": name, "role": role, "kind": "text", "page": 1, "x": 0, "y": 0, "width": 0.1, "height": 0.1}
	}
	template := func(in fields) error {
		all := fields{"name": "Offer", "roles": []any{fields{"title": "Buyer"}}}
		maps.Copy(all, in)
		return post("/templates", all)
	}
	form := func(in fields) error {
		all := fields{"title": "Survey", "fields": []any{fields{"question": "Why?"}}}
		maps.Copy(all, in)
		return post("/forms", all)
	}
	asked := server.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{{Question: "Why?"}}})
	submit := func(in fields) error { return post("/forms/"+asked+"/submit", in) }
	email := func(s string) string { return s[:len(s)-2] + "@b" }
	keyed := func(list string, in fields) error { return post("/seed", fields{list: []any{in}}) }
	return map[string]func(s string) error{
		"Template key": func(s string) error {
			return keyed("templates", fields{"key": s, "name": "Offer", "roles": []any{fields{"title": "B"}}})
		},
		"Template name":        func(s string) error { return template(fields{"name": s}) },
		"Template authorEmail": func(s string) error { return template(fields{"authorEmail": email(s)}) },
		"Template variables":   func(s string) error { return template(fields{"variables": []any{"[" + s[2:] + "]"}}) },
		"Role title":           func(s string) error { return template(fields{"roles": []any{fields{"title": s}}}) },
		"Role colour":          func(s string) error { return template(fields{"roles": []any{fields{"title": "B", "colour": s}}}) },
		"PDFField name":        func(s string) error { return template(fields{"fields": []any{place(s, "Buyer")}}) },
		"Form key": func(s string) error {
			return keyed("forms", fields{"key": s, "title": "Survey", "fields": []any{fields{"question": "Why?"}}})
		},
		"Form title":        func(s string) error { return form(fields{"title": s}) },
		"Question question": func(s string) error { return form(fields{"fields": []any{fields{"question": s}}}) },
		"Question choices": func(s string) error {
			return form(fields{"fields": []any{fields{"question": "Why?", "kind": "choice", "choices": []any{s}}}})
		},
		"Document key": func(s string) error {
			return keyed("documents", fields{"key": s, "name": "Lease", "signers": []any{ann}})
		},
		"Document name":        func(s string) error { return document(fields{"name": s}, ann) },
		"Document authorEmail": func(s string) error { return document(fields{"authorEmail": email(s)}, ann) },
		"Signer name":          func(s string) error { return document(nil, fields{"name": s, "email": "ann@example.com"}) },
		"Signer email":         func(s string) error { return document(nil, fields{"email": email(s)}) },
		"NewWorkspace name":    func(s string) error { return post("/workspaces", fields{"name": s}) },
		"Origin ip": func(s string) error {
			return signed("view", fields{"from": fields{"ip": s}})
		},
		"FieldValue kind":  func(s string) error { return value(fields{"kind": s}) },
		"FieldValue label": func(s string) error { return value(fields{"label": s}) },
		"FieldValue value": func(s string) error { return value(fields{"value": s}) },
		"/documents/{id}/decline reason": func(s string) error {
			return signed("decline", fields{"reason": s})
		},
		"/forms/{id}/submit respondentEmail": func(s string) error { return submit(fields{"answers": fields{}, "respondentEmail": s}) },
		"/forms/{id}/submit answers":         func(s string) error { return submit(fields{"answers": fields{"Why?": s}}) },
		"Webhook url": func(s string) error {
			return post("/webhooks", fields{"url": "http://h/" + s[9:], "event": "new_form_response"})
		},
		"RequestFault body": func(s string) error { // the request may have no more
			err := post("/faults/requests", fields{"body": s})
			if refused, ok := errors.AsType[*wire.Error](err); ok && refused.Status == http.StatusRequestEntityTooLarge {
				refused.Status, refused.Message = 422, fmt.Sprintf("body has %d characters, and may have %d at most: shorten it", len(s), len(s)-1)
			}
			return err
		},
		"RequestFault contentType": func(s string) error { return post("/faults/requests", fields{"contentType": s}) },
		"RequestFault retryAfter":  func(s string) error { return post("/faults/requests", fields{"retryAfter": s}) },
		"DeliveryFault secret":     func(s string) error { return post("/faults/deliveries", fields{"secret": s}) },
		"DeliveryFault type":       func(s string) error { return post("/faults/deliveries", fields{"type": s}) },
	}
}

// Every string in a request has a maxLength in control.yaml, and the code accepts that length and no more.
func TestDescribedBoundsHold(t *testing.T) {
	server, api := newAPI(t)
	c, err := wire.NewClient(api.URL, "")
	require.NoError(t, err)
	tries := bounded(t, server, c)
	described := textInputs(description(t))
	for _, name := range slices.Sorted(maps.Keys(described)) {
		schema := described[name]
		switch {
		case len(schema.Enum) > 0 || schema.ContentEncoding == "base64" || schema.Format == "byte" || schema.Format == "date-time" || unbounded[name] != "":
			continue
		case schema.MaxLength == nil:
			require.Fail(t, "control.yaml tells no bound", name)
		}
		require.Contains(t, tries, name, "say here how to try it")
		most := int(*schema.MaxLength)
		require.NoError(t, tries[name](strings.Repeat("x", most)), name)
		err := tries[name](strings.Repeat("x", most+1))
		var refused *wire.Error
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, http.StatusUnprocessableEntity, refused.Status, name)
		require.Contains(t, refused.Message, fmt.Sprintf("has %d characters, and may have %d at most: shorten it", most+1, most), name)
		require.Regexp(t, `\b`+name[strings.LastIndex(name, " ")+1:]+`\b`, refused.Message, name)
		delete(tries, name)
	}
	require.Empty(t, slices.Sorted(maps.Keys(tries)), "control.yaml has no such texts")
}
