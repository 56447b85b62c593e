package api_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

func TestRecord_ofEachRequest(t *testing.T) {
	srv := newServer(t, nil)
	load(t, "void_document").with(func(r *request) {
		r.Query = map[string]string{"documentid": inProgress}
		r.Body = []byte(`{"reason":"late"}`)
		r.Header["x-request-id"] = "41b1d28d-8a2f-4d8e-b1cb-52a3c6bd44c1"
	}).send(srv)
	got := srv.last()
	require.Equal(t, api.VoidDocument, got.Operation)
	require.Equal(t, srv.now, got.At)
	require.Equal(t, workspace, got.WorkspaceID)
	require.Equal(t, "41b1d28d-8a2f-4d8e-b1cb-52a3c6bd44c1", got.RequestID)
	require.Equal(t, []string{"documentId"}, got.Missing)
	require.Equal(t, []string{`ignored query parameter "documentid" (did you mean documentId?)`, `ignored body field "reason"`}, got.Notes)
	require.Equal(t, `{"reason":"late"}`, string(got.Body))
	require.Equal(t, "2026-11-19T08:00:00.000Z void document: 400 invalid_input (rule: input): documentId is required, "+
		`ignored query parameter "documentid" (did you mean documentId?), ignored body field "reason"`, got.String())

	load(t, "void_document").with(func(r *request) { r.Path = "/nowhere" }).send(srv)
	require.Equal(t, `2026-11-19T08:00:00.000Z "POST" "/nowhere": 404 not_found (rule: path): No such path`, srv.last().String())
	load(t, "void_document").with(func(r *request) { r.Path = "/form/0123456789abcdef0123456789abcdef" }).send(srv)
	require.Equal(t, `2026-11-19T08:00:00.000Z "POST" "/form/…": 404 not_found (rule: path): No such path. Did you mean GET /get-form-responses?`, srv.last().String())
}

// TestRecord_linesRepeatNoInput has every kind of refusal that repeats in its message what the client sent.
func TestRecord_linesRepeatNoInput(t *testing.T) {
	srv := newServer(t, nil)
	for _, row := range []struct {
		want   string
		change func(*request)
	}{
		{want: "send: 400 invalid_input (rule: input): receiversList[0].roleTitle", change: body("receiversList", []any{
			map[string]any{"name": "Ann", "email": "ann@example.com", "roleTitle": "private"},
		})},
		{want: "send: 415 unsupported_media_type (rule: media type): the body must be application/json", change: header("Content-Type", "text/private")},
		{want: "send: 405 method_not_allowed (rule: method): use POST", change: func(r *request) { r.Method = "PRIVATE" }},
	} {
		t.Run(row.want, func(t *testing.T) {
			load(t, "send_template").with(row.change).send(srv)
			require.Contains(t, strings.ToLower(srv.last().Message), "private")
			require.Contains(t, srv.last().String(), row.want)
			require.NotContains(t, strings.ToLower(srv.last().String()), "private")
		})
	}
}

// TestRecord_holdsNoSecrets looks for the key anywhere in the records, and for what the client sent in their lines.
func TestRecord_holdsNoSecrets(t *testing.T) {
	srv := newServer(t, nil)
	for _, name := range []string{"send_template", "send_form", "void_document", "list_documents", "get_response"} {
		t.Run(name, func(t *testing.T) {
			load(t, name).with(header("Authorization", "Bearer "+apiKey)).send(srv)
			load(t, name).with(header("x-api-key", "wrong-"+apiKey)).send(srv)
		})
	}
	type fields api.Record // without its String
	for _, r := range srv.records {
		require.NotContains(t, fmt.Sprintf("%+v", fields(r)), apiKey)
		require.NotContains(t, string(r.Body), apiKey)
		require.NotContains(t, r.String(), "@", "no addresses")
		require.NotContains(t, r.String(), inProgress)
	}
	require.Equal(t, "(hidden)", srv.last().Header.Get("x-api-key"))
}

func TestRecord_responseAndRefusedPath(t *testing.T) {
	srv := newServer(t, nil)
	load(t, "void_document").with(func(r *request) {
		r.Path, r.Query = "/void-documents", map[string]string{"documentId": inProgress}
	}).with(header("Authorization", "Bearer "+apiKey)).send(srv)
	miss := srv.last()
	require.Equal(t, inProgress, miss.Query.Get("documentId"))
	require.Equal(t, "(hidden)", miss.Header.Get("Authorization"), "that it was sent says why it was refused")
	require.Equal(t, "application/json", miss.AnswerHeader.Get("Content-Type"))
	require.JSONEq(t, `{"code":"not_found","message":"No such path. Did you mean POST /void-document?"}`, string(miss.Answer))

	w := load(t, "list_documents").send(srv)
	list := srv.last()
	require.NotEmpty(t, w.Body.Bytes())
	require.Equal(t, w.Body.Bytes()[:min(w.Body.Len(), 4<<10)], list.Answer)
	require.Equal(t, w.Header(), list.AnswerHeader)
	cut := list.Cut()
	require.Nil(t, cut.Answer)
	require.Nil(t, cut.AnswerHeader)
	without := list
	without.Answer, without.AnswerHeader = nil, nil
	require.Greater(t, list.Weight(), without.Weight()+len(list.Answer))
}

func TestIntercept_call(t *testing.T) {
	type seen struct {
		operation api.Operation
		named     string
	}
	var calls []seen
	ids := map[string]string{inProgress: "document", template: "template", created: "created", form: "form", response: "response"}
	srv := newServer(t, func(o *api.Options) {
		o.Intercept = func(_ context.Context, c *api.Call, work func() api.Answer) api.Answer {
			var named []string
			for id, name := range ids {
				if c.Names(strings.ToUpper(id)) {
					named = append(named, name)
				}
			}
			slices.Sort(named)
			calls = append(calls, seen{c.Operation, strings.Join(named, " ")})
			c.Note("seen")
			return work()
		}
	})
	for _, name := range []string{"list_documents", "get_template", "void_template_document", "send_form", "get_respondent_both", "get_response"} {
		w := load(t, name).send(srv)
		require.Equal(t, http.StatusOK, w.Code)
		require.Contains(t, srv.last().Notes, "seen")
	}
	load(t, "void_document").with(func(r *request) { r.Query = nil }).send(srv)
	load(t, "void_document").with(header("x-api-key", "wrong")).send(srv)
	load(t, "void_document").with(raw("{")).send(srv)
	require.Equal(t, []seen{
		{operation: api.ListDocuments, named: "document"}, {operation: api.ListDocuments, named: "template"},
		{operation: api.VoidDocument, named: "created template"}, {operation: api.Send, named: "form"},
		{operation: api.ListRespondents, named: "created template"}, {operation: api.ListResponses, named: "response"},
		{operation: api.VoidDocument, named: "document"},
	}, calls, "what is refused before the work is not intercepted")
}

// TestIntercept_droppedResponse does the work and loses its answer; the repeat finds it done.
func TestIntercept_droppedResponse(t *testing.T) {
	drop := true
	srv := newServer(t, func(o *api.Options) {
		o.Intercept = func(_ context.Context, _ *api.Call, work func() api.Answer) api.Answer {
			if a := work(); !drop {
				return a
			}
			return api.Answer{}
		}
	})
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { load(t, "void_document").send(srv) })
	require.True(t, srv.last().AnswerLost)
	require.Zero(t, srv.last().StatusCode)
	require.Contains(t, srv.last().String(), "answer lost")
	require.NoError(t, srv.store.View(func(tx *store.Tx) error {
		d, err := tx.Document(inProgress)
		require.Equal(t, signing.StatusVoid, d.Status)
		return err
	}))
	drop = false
	w := load(t, "void_document").send(srv)
	require.Equal(t, wantAnswer(t, "void_document_again"), parse(t, w.Body.Bytes()))
}

// Values that look like a secret are not kept, whatever the name of their header.
func TestRecord_secretHeaders(t *testing.T) {
	srv := newServer(t, nil)
	for _, name := range []string{"X-Access-Token", "X-Amz-Security-Token", "X-Csrf-Token", "My-Api-Key", "X-Client-Secret", "X-Password"} {
		t.Run(name, func(t *testing.T) {
			load(t, "list_documents").with(header(name, "a secret")).send(srv)
			require.Equal(t, "(hidden)", srv.last().Header.Get(name))
		})
	}
}
