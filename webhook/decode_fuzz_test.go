package webhook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
)

// FuzzParse holds Parse to encoding/json, which reads the same payload into maps and from there field by field: maps,
// because its structs take keys in any case.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../testdata/events/*.json")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(body)
	}
	f.Add([]byte(`[{"webhookEvent":"new_template_response","x(page1)[\u0061]":null,"x(page1)[a]":1,"signers":[{"signingOrderNo":1.0}]},{},{"signedBy":{"signedAt":""}}]`))
	f.Add([]byte("[{\"a\":\"\xff\\\"}\"},{\"\xff\":[1,{}]},\"\xff\"]"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		events, err := webhook.Parse(payload)
		elements, ok := plainElements(payload)
		if err != nil {
			require.ErrorIs(t, err, webhook.ErrPayload)
			if ok && utf8.Valid(payload) && !strings.Contains(err.Error(), "nested more than 512 levels deep") {
				t.Fatalf("encoding/json accepts it, Parse says %v", err)
			}
			return
		}
		require.True(t, ok, "encoding/json refuses it")
		require.Len(t, events, len(elements))
		for i, e := range events {
			require.Equal(t, string(elements[i]), string(e.Raw()))
			require.True(t, utf8.Valid(elements[i]))
			comparePlain(t, e, elements[i])
		}
	})
}

// plainElements returns the elements of a payload as encoding/json sees them.
func plainElements(payload []byte) ([]json.RawMessage, bool) {
	var one map[string]json.RawMessage
	if json.Unmarshal(payload, &one) == nil && one != nil {
		return []json.RawMessage{bytes.Trim(payload, " \t\r\n")}, true
	}
	var all []json.RawMessage
	if json.Unmarshal(payload, &all) != nil || all == nil {
		return nil, false
	}
	return all, true
}

// plain reads members of one object; it notes when one has another type than is asked for.
type plain struct {
	members map[string]json.RawMessage
	misfit  bool
}

func newPlain(object json.RawMessage) plain {
	var p plain
	p.misfit = json.Unmarshal(object, &p.members) != nil
	return p
}

func read[T any](p *plain, key string) T {
	var v T
	if raw, ok := p.members[key]; ok && json.Unmarshal(raw, &v) != nil {
		p.misfit = true
	}
	return v
}

func (p *plain) document() webhook.Document {
	return webhook.Document{DocumentName: read[string](p, "documentName"), DocumentID: read[string](p, "documentId"),
		DocumentURL: read[string](p, "documentUrl"), AuthorEmail: read[string](p, "authorEmail")}
}

func (p *plain) signer() webhook.Signer {
	return webhook.Signer{Email: read[string](p, "email"), Name: read[string](p, "name"), Status: read[webhook.SignerStatus](p, "status"),
		IP: read[string](p, "signerIp"), RoleTitle: read[string](p, "roleTitle"), ID: read[string](p, "signerId"),
		HasDeclined: read[bool](p, "hasDeclined"), SigningOrderNo: read[int](p, "signingOrderNo")}
}

func (p *plain) signers() []webhook.Signer {
	var list []webhook.Signer
	for _, raw := range read[[]json.RawMessage](p, "signers") {
		one := newPlain(raw)
		list = append(list, one.signer())
		p.misfit = p.misfit || one.misfit
	}
	return list
}

func (p *plain) actor(key, atKey string) (webhook.Signer, time.Time) {
	actor := plain{members: read[map[string]json.RawMessage](p, key)}
	s, at := actor.signer(), read[time.Time](&actor, atKey)
	p.misfit = p.misfit || actor.misfit
	return s, at.UTC()
}

func (p *plain) answers() []webhook.FormAnswer {
	var list []webhook.FormAnswer
	for _, raw := range read[[]json.RawMessage](p, "response") {
		one := newPlain(raw)
		list = append(list, webhook.FormAnswer{ID: read[string](&one, "id"), Question: read[string](&one, "question"), Answer: read[string](&one, "answer")})
		p.misfit = p.misfit || one.misfit
	}
	return list
}

// comparePlain compares where both accept. Parse takes more: times and answers of other types.
func comparePlain(t *testing.T, event webhook.Event, element json.RawMessage) {
	p := newPlain(element)
	if named := read[string](&p, "webhookEvent"); !event.Inferred() && !p.misfit {
		require.Equal(t, named, string(event.EventType()))
	}
	switch e := event.(type) {
	case *webhook.FormResponse:
		compareForm(t, &p, e)
	case *webhook.SignatureViewed:
		compareViewed(t, &p, e.Document, e.Signers, e.ViewedBy)
	case *webhook.TemplateViewed:
		compareViewed(t, &p, e.Document, e.Signers, e.ViewedBy)
	case *webhook.SignatureSigned:
		compareSigned(t, &p, e.Document, e.IsSigningOrder, e.Signers, e.SignedBy)
	case *webhook.TemplateSigned:
		compareSigned(t, &p, e.Document, e.IsSigningOrder, e.Signers, e.SignedBy)
	case *webhook.SignatureCompleted:
		compareCompleted(t, &p, e.Document, e.FinishedPDFURL, e.Signers, e.Fields)
	case *webhook.TemplateResponse:
		compareCompleted(t, &p, e.Document, e.FinishedPDFURL, e.Signers, e.Fields)
	case *webhook.UnknownEvent:
		compareUnknown(t, &p, e)
	}
	if !p.misfit {
		require.Nil(t, event.FieldErrors(), "encoding/json can decode it")
	}
}

func compareForm(t *testing.T, p *plain, e *webhook.FormResponse) {
	url, older := read[string](p, "finishedPdfUrl"), read[string](p, "documentUrl")
	if url == "" {
		url = older
	}
	want := []any{read[string](p, "formId"), read[string](p, "formResponseId"), read[string](p, "formTitle"), url, read[string](p, "respondentEmail"), p.answers()}
	if !p.misfit {
		require.Equal(t, want, []any{e.FormID, e.FormResponseID, e.FormTitle, e.FinishedPDFURL, e.RespondentEmail, e.Answers})
	}
}

func compareViewed(t *testing.T, p *plain, document webhook.Document, signers []webhook.Signer, by webhook.ViewedBy) {
	signer, at := p.actor("viewedBy", "viewedAt")
	want := []any{p.document(), p.signers(), webhook.ViewedBy{Signer: signer, ViewedAt: at}}
	if !p.misfit {
		require.Equal(t, want, []any{document, signers, by})
	}
}

func compareSigned(t *testing.T, p *plain, document webhook.Document, order bool, signers []webhook.Signer, by webhook.SignedBy) {
	signer, at := p.actor("signedBy", "signedAt")
	want := []any{p.document(), read[bool](p, "isSigningOrder"), p.signers(), webhook.SignedBy{Signer: signer, SignedAt: at}}
	if !p.misfit {
		require.Equal(t, want, []any{document, order, signers, by})
	}
}

func compareCompleted(t *testing.T, p *plain, document webhook.Document, url string, signers []webhook.Signer, fields []webhook.Field) {
	want := []any{p.document(), read[string](p, "finishedPdfUrl"), p.signers()}
	for _, f := range fields {
		require.Contains(t, p.members, f.Key)
		require.NotEqual(t, "null", string(p.members[f.Key]), f.Key)
		text := &plain{members: p.members}
		if value := read[string](text, f.Key); !text.misfit {
			require.Equal(t, value, f.Value)
		}
	}
	if !p.misfit {
		require.Equal(t, want, []any{document, url, signers})
	}
}

// compareUnknown sees to it that an event is undecodable only where its type can neither be read nor inferred.
func compareUnknown(t *testing.T, p *plain, e *webhook.UnknownEvent) {
	named := read[string](p, "webhookEvent")
	if _, ok := errors.AsType[*webhook.FieldError](e.Err); ok || p.misfit {
		require.True(t, p.misfit, "encoding/json can decode it, Parse says %v", e.Err)
		require.Error(t, e.Err)
		return
	}
	require.Equal(t, e.Err == nil, named != "", "an event without a type is undecodable, others are not: %v", e.Err)
}
