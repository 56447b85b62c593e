package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/signforms/signforms-go/webhook"
)

// BenchmarkParse stands beside an HMAC over the same bytes, because the time to verify is nearly that of the HMAC:
// compare the lines of one run, not figures of different machines.
func BenchmarkParse(b *testing.B) {
	for _, p := range benchPayloads() {
		b.Run(p.name+"/hmac", func(b *testing.B) {
			mac := hmac.New(sha256.New, []byte("whsec_example_7f3c1b52d9e84a06"))
			var sum [sha256.Size]byte
			b.SetBytes(int64(len(p.body)))
			b.ReportAllocs()
			for b.Loop() {
				mac.Reset()
				mac.Write(p.body)
				mac.Sum(sum[:0])
			}
		})
		b.Run(p.name+"/parse", func(b *testing.B) {
			b.SetBytes(int64(len(p.body)))
			b.ReportAllocs()
			for b.Loop() {
				if events, err := webhook.Parse(p.body); err != nil || len(events) != p.events {
					b.Fatalf("Parse gave %d events, %v; want %d", len(events), err, p.events)
				}
			}
		})
		b.Run(p.name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(p.body)))
			b.ReportAllocs()
			for b.Loop() {
				var events []plainEvent
				if err := json.Unmarshal(p.body, &events); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// plainEvent is what one would write by hand to decode with encoding/json.
type plainEvent struct {
	WebhookEvent, DocumentName, DocumentID, DocumentURL, AuthorEmail, FinishedPDFURL string
	IsSigningOrder                                                                   bool
	Signers                                                                          []plainSigner
	SignedBy                                                                         plainSigner
	FormID, FormResponseID, FormTitle, RespondentEmail                               string
	Response                                                                         []struct{ ID, Question, Answer string }
}

type plainSigner struct {
	Email, Name, Status, SignerIP string
	HasDeclined                   bool
	SigningOrderNo                int
	SignedAt                      string
}

type benchPayload struct {
	name   string
	body   []byte
	events int
}

func benchPayloads() []benchPayload {
	return []benchPayload{
		{name: "1KB/signed", body: []byte("[" + benchSigned(3) + "]"), events: 1},
		{name: "20KB/batch", body: benchBatch(19), events: 19},
		{name: "20KB/form", body: benchForm(104), events: 1},
		{name: "50KB/batch", body: benchBatch(47), events: 47},
		{name: "50KB/form", body: benchForm(266), events: 1},
	}
}

func benchBatch(n int) []byte {
	return []byte("[" + strings.TrimSuffix(strings.Repeat(benchSigned(3)+",", n), ",") + "]")
}

func benchSigned(signers int) string {
	var list []string
	for i := range signers {
		list = append(list, benchSigner(i, ""))
	}
	return `{"webhookEvent":"new_signature_pdf_individual_signed","documentName":"Supply agreement 2026/11",` +
		`"documentId":"602c2631-2d49-4647-a609-75331ebb0338","documentUrl":"https://files.example.com/documents/602c2631-2d49-4647-a609-75331ebb0338.pdf",` +
		`"authorEmail":"olga.author@example.com","isSigningOrder":true,"signers":[` + strings.Join(list, ",") +
		`],"signedBy":` + benchSigner(0, `,"signedAt":"2026-11-19T07:00:00.000Z"`) + `}`
}

func benchSigner(i int, more string) string {
	return fmt.Sprintf(`{"email":"signer.number%d@example.com","name":"Çiğdem Yılmaz","status":"SIGNED","signerIp":"203.0.113.%d",`+
		`"hasDeclined":false,"signingOrderNo":%d%s}`, i, i, i+1, more)
}

func benchForm(answers int) []byte {
	var list []string
	for i := range answers {
		answer := "The quick brown fox jumps over the lazy dog, as it says in § 4 of the agreement."
		if i%8 == 0 {
			answer = `Line one\nLine two: \"quoted\"`
		}
		list = append(list, fmt.Sprintf(`{"id":"9656bc85-46e1-40d9-828b-81cb4e1%05d","question":"Question number %d, please answer in full","answer":"%s"}`, i, i, answer))
	}
	return []byte(`[{"webhookEvent":"new_form_response","formId":"897c8dd4-830a-4a3b-b3e2-6747747385ba","formResponseId":"c8c597f6-f2df-4656-b01d-090c847b0a17",` +
		`"formTitle":"Client intake","finishedPdfUrl":"https://files.example.com/finished/c8c597f6-f2df-4656-b01d-090c847b0a17.pdf",` +
		`"respondentEmail":"ann@example.com","response":[` + strings.Join(list, ",") + `]}]`)
}
