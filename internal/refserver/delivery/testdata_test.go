package delivery_test

import (
	"encoding/json"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// wireEvent reads an event of testdata; only this test knows it.
type wireEvent struct {
	WebhookEvent                                                       string
	DocumentName, DocumentID, DocumentURL, AuthorEmail, FinishedPDFURL string
	IsSigningOrder                                                     bool
	Signers                                                            []wireSigner
	ViewedBy, SignedBy                                                 *wireSigner
	FormID, FormResponseID, FormTitle, RespondentEmail                 string
	Response                                                           []struct{ ID, Question, Answer string }
}

type wireSigner struct {
	RoleTitle, SignerID, Email, Name, Status, SignerIP string
	HasDeclined                                        bool
	SigningOrderNo                                     int
	ViewedAt, SignedAt                                 time.Time
}

// TestBody_equalsTestdata makes the records for each literal event and expects the bytes of the event.
func TestBody_equalsTestdata(t *testing.T) {
	// The one field of the files that no rule makes: other top-level keys were seen, and nothing is known of them.
	unexplained := regexp.MustCompile(`,"customerReference":\{.*?\}`)
	for _, name := range []signing.EventType{
		signing.EventFormResponse, signing.EventSignatureViewed, signing.EventSignatureSigned, signing.EventSignatureCompleted,
		signing.EventTemplateViewed, signing.EventTemplateSigned, signing.EventTemplateResponse,
	} {
		t.Run(string(name), func(t *testing.T) {
			raw, err := os.ReadFile("../../../testdata/events/" + string(name) + ".json")
			require.NoError(t, err)
			raw = unexplained.ReplaceAll(raw, nil)
			var wire []wireEvent
			require.NoError(t, json.Unmarshal(raw, &wire))
			e := wire[0].event(t, raw)
			base := signing.Links{Base: "https://files.example.com"}
			require.Equal(t, strings.TrimSpace(string(raw)), string(delivery.Body(e, base, false)))
		})
	}
}

func (w wireEvent) event(t *testing.T, raw []byte) signing.Event {
	e := signing.Event{Type: signing.EventType(w.WebhookEvent), Signer: -1}
	if e.Type == signing.EventFormResponse {
		e.Form = &signing.Form{ID: w.FormID, Title: w.FormTitle}
		e.Response = &signing.FormResponse{ID: w.FormResponseID, RespondentEmail: w.RespondentEmail}
		for _, a := range w.Response {
			e.Response.Answers = append(e.Response.Answers, signing.FormAnswer{FieldID: a.ID, Question: a.Question, Answer: a.Answer})
		}
		return e
	}
	id := strings.TrimSuffix(path.Base(w.DocumentURL), ".pdf")
	d := &signing.Document{ID: id, Kind: signing.KindPDF, Name: w.DocumentName, AuthorEmail: w.AuthorEmail, Ordered: w.IsSigningOrder}
	if id != w.DocumentID {
		d.Kind, d.TemplateID = signing.KindTemplate, w.DocumentID
	}
	for i, s := range w.Signers {
		signer := signing.Signer{
			ID: s.SignerID, RoleTitle: s.RoleTitle, Email: s.Email, Name: s.Name, IP: s.SignerIP, Order: i + 1,
		}
		for _, by := range []*wireSigner{w.ViewedBy, w.SignedBy} {
			if by != nil && by.Email == s.Email {
				e.Signer, signer.ViewedAt, signer.SignedAt = i, by.ViewedAt, by.SignedAt
			}
		}
		if s.Status == "SIGNED" && signer.SignedAt.IsZero() {
			signer.SignedAt = time.Unix(1, 0)
		}
		d.Signers = append(d.Signers, signer)
	}
	for _, m := range regexp.MustCompile(`"(\w+)\(page(\d+)\)\[(.*?)\]":("(?:[^"\\]|\\.)*")`).FindAllSubmatch(raw, -1) {
		page, err := strconv.Atoi(string(m[2]))
		require.NoError(t, err)
		var value string
		require.NoError(t, json.Unmarshal(m[4], &value))
		d.Values = append(d.Values, signing.FieldValue{Kind: string(m[1]), Page: page, Label: string(m[3]), Value: value})
	}
	e.Document = d
	return e
}
