package record_test

import (
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/record"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

var at = time.Date(2026, 11, 20, 12, 0, 0, 123e6, time.UTC)

// records holds one of each kind, with something in every field.
func records() []store.Write {
	document := &signing.Document{
		ID: "7d1b", Kind: signing.KindTemplate, TemplateID: "t", OwnerID: "o", Name: "Offer <1>", AuthorEmail: "author@example.com",
		Status: signing.StatusSigned, Ordered: true, Archived: true,
		Signers: []signing.Signer{{
			ID: "s", Token: "secret", Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer", RoleColour: "#fff", Order: 1, Subject: "Su",
			Message: "Me", IP: "192.0.2.1", InvitedAt: at, ViewedAt: at, SignedAt: at, DeclinedAt: at, Reason: "no",
		}},
		Variables: []signing.Variable{{Name: "[v1]", Value: "1"}},
		Fields: []signing.Field{{
			Name: "Name", Role: "Buyer", Kind: signing.FieldText, Required: true, Page: 1, X: 0.5, Y: 0.25, Width: 0.125, Height: 0.1,
		}},
		Values: []signing.FieldValue{{Signer: "s", Name: "Name", Kind: "text", Page: 1, Label: "Name", Value: "Ann", Image: signing.File{SHA256: "ab"}}},
		Mail:   signing.Mail{Subject: "S", Message: "M"}, PDF: signing.File{SHA256: "cd"}, ExpiresFor: time.Hour, ExpiresAt: at, CreatedAt: at, UpdatedAt: at,
		SentAt: at, CompletedAt: at, Finished: signing.File{SHA256: "ef"},
	}
	return []store.Write{
		{Kind: store.KindService, ID: "service", Value: &store.Service{
			WorkspaceID: "w", OwnerID: "o", APIKey: "k", WebhookSecret: "s", Offset: time.Hour, Latest: at, Deliveries: 1, Audit: 2, Messages: 3, Webhooks: 4,
		}},
		{Kind: store.KindKey, ID: "hash", Value: &store.Key{APIKey: "k"}},
		{Kind: store.KindTemplate, ID: "t", Value: &signing.Template{
			ID: "t", OwnerID: "o", Name: "Offer", AuthorEmail: "author@example.com", Roles: []signing.Role{{Title: "Buyer", Colour: "#fff"}},
			Ordered: true, Variables: []string{"[v1]"}, PDF: signing.File{SHA256: "cd"}, Fields: document.Fields, Archived: true, ExpiresFor: time.Hour,
			CreatedAt: at, UpdatedAt: at,
		}},
		{Kind: store.KindForm, ID: "f", Value: &signing.Form{
			ID: "f", Title: "Intake", CreatedAt: at,
			Fields: []signing.FormField{{ID: "q1", Question: "Name?", Kind: signing.QuestionChoice, Required: true, Choices: []string{"Ann"}}},
		}},
		{Kind: store.KindFormLink, ID: "token", Value: &store.FormLink{FormID: "f", Email: "ann@example.com"}},
		{Kind: store.KindDocument, ID: "7d1b", Value: document},
		{Kind: store.KindResponse, ID: "r", Value: &signing.FormResponse{
			ID: "r", ObjectID: "o", FormID: "f", RespondentEmail: "ann@example.com", SubmittedAt: at,
			Answers: []signing.FormAnswer{{FieldID: "q1", Question: "Name?", Answer: "Ann"}},
		}},
		{Kind: store.KindWebhook, ID: "h", Value: &store.Webhook{
			ID: "h", URL: "http://app.test", Secret: "s", Family: signing.FamilyTemplate, Sources: []string{"t"}, Bare: true,
			Disabled: true, Relay: "r", CreatedAt: at, Seq: 3,
		}},
		{Kind: store.KindDelivery, ID: "dlv_1", Value: &store.Delivery{
			ID: "dlv_1", WebhookID: "h", Test: true, Body: []byte("[{}]"), Status: store.DeliveryPending, NextAttemptAt: at, Delayed: true, CreatedAt: at,
			Events: []signing.Event{{
				Type: signing.EventTemplateResponse, At: at, SourceID: "t", Document: &signing.Document{ID: "7d1b"}, Signer: -1,
			}},
			Attempts: []store.Attempt{{
				At: at, Took: time.Second, Header: http.Header{"X-Timestamp": {"1"}}, Body: []byte("[{}]"), StatusCode: 500,
				AnswerHeader: http.Header{"Date": {"now"}}, Answer: []byte("no"), Error: "cut", Duplicate: true,
			}, {At: at, Body: []byte("[{ }]")}},
		}},
		{Kind: store.KindAudit, ID: "000000000001", Value: []*signing.AuditEntry{{
			ID: 1, RecordID: "7d1b", At: at, Action: signing.ActionSign, Actor: "s", From: signing.StatusPending, To: signing.StatusPending, Note: "n",
			Origin: signing.Origin{IP: "192.0.2.1", UserAgent: "browser"},
		}, {ID: 2}}},
		{Kind: store.KindMessage, ID: "000000000001", Value: []*signing.Message{{
			Seq: 1, Kind: signing.MessageInvitation, DocumentID: "7d1b", To: "ann@example.com", Subject: "S", Body: "B", Token: "secret", At: at,
		}}},
		{Kind: store.KindLimit, ID: "hash", Value: &store.Limit{APIKey: "k", State: []byte(`["2026-11-20T12:00:00Z"]`)}},
	}
}

// TestRecord_isWrittenAsBefore: a change of the records needs another version, and another testdata/records.json.
func TestRecord_isWrittenAsBefore(t *testing.T) {
	text, err := os.ReadFile("testdata/records.json")
	require.NoError(t, err)
	saved := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(text, &saved))
	require.Len(t, saved, len(records()))
	for _, w := range records() {
		data, err := record.Encode(at, w)
		require.NoError(t, err)
		require.JSONEq(t, string(saved[string(w.Kind)]), string(data), w.Kind)
		got, when, err := record.Decode(w.Kind, w.ID, data)
		require.NoError(t, err)
		require.Equal(t, w, got)
		require.Equal(t, at, when)
	}
}

func TestRecord_samplesHaveEveryField(t *testing.T) {
	for _, w := range records() {
		v := reflect.Indirect(reflect.ValueOf(w.Value))
		if v.Kind() == reflect.Slice {
			v = v.Index(0).Elem()
		}
		for field, value := range v.Fields() {
			require.Equal(t, field.Tag.Get("json") == "-", value.IsZero(), "%s.%s", v.Type(), field.Name)
		}
	}
}

// A record whose Data was read back must not hold more than what was given: [store.Tx] leaves no content in it.
func TestRecord_blobs(t *testing.T) {
	data, err := record.Encode(at, store.Write{Kind: store.KindBlob, ID: "hash", Value: []byte("%PDF")})
	require.NoError(t, err)
	require.Equal(t, "%PDF", string(data))
	data, err = record.Encode(at, store.Write{Kind: store.KindDocument, ID: "d", Value: &signing.Document{PDF: signing.NewFile([]byte("%PDF"))}})
	require.NoError(t, err)
	require.NotContains(t, string(data), "Data")
}

func TestRecord_unreadableIsRefused(t *testing.T) {
	for _, c := range []struct{ name, kind, data, want string }{
		{name: "other version", kind: "form", data: `{"v":2,"at":7,"d":{}}`, want: "reading form f: it has version 2, and this version of the program reads 4: use the one that wrote it, or start with an empty file"},
		{name: "in another form", kind: "form", data: `{"v":5,"at":7,"d":[1]}`, want: "reading form f: it has version 5, and this version of the program reads 4: use the one that wrote it, or start with an empty file"},
		{name: "no version", kind: "form", data: `{}`, want: "reading form f: it has no version"},
		{name: "unknown kind", kind: "folder", data: `{"v":4,"at":7,"d":{}}`, want: `a record of the kind "folder", which this version of the program does not know`},
		{name: "no entries", kind: "audit", data: `{"v":4,"at":7,"d":[]}`, want: "reading audit f: an entry is missing"},
		{name: "damaged", kind: "form", data: `{"v":4,"at":7,"d":{`, want: "reading form f: unexpected end of JSON input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := record.Decode(store.Kind(c.kind), "f", []byte(c.data))
			require.EqualError(t, err, c.want)
		})
	}
	_, err := record.Encode(at, store.Write{Kind: "folder"})
	require.Error(t, err)
}
