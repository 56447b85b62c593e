package bench

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Receivers written by hand with the standard library, for our scheme and the same fields.

func handRows() []Row {
	verify := Work{Clock: "both ways", Decode: DecodesNot, Copies: "–", Repeat: "–"}
	decode := verify
	decode.Decode = DecodesTyped
	return []Row{
		{Name: "by hand: crypto/hmac", Kind: KindVerify, Work: verify, Sign: ourSign, New: func() Receiver {
			return func(d *Delivery) (int, error) { return 0, handVerify(d.Header, d.Body) }
		}},
		{Name: "by hand: crypto/hmac, encoding/json", Kind: KindDecode, Work: decode, Sign: ourSign, New: func() Receiver {
			return func(d *Delivery) (int, error) { return handDecode(d.Header, d.Body) }
		}},
		{Name: "by hand: net/http, crypto/hmac, encoding/json", Kind: KindHandler, Work: decode, Sign: ourSign, New: handHandler},
	}
}

var errHand = errors.New("not genuine or not recent")

func handVerify(header http.Header, body []byte) error {
	timestamp := header.Get("X-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errHand
	}
	got, err := hex.DecodeString(header.Get("X-Signature"))
	if err != nil {
		return errHand
	}
	mac := hmac.New(sha256.New, []byte(Secret))
	io.WriteString(mac, timestamp+".")
	mac.Write(body)
	if !hmac.Equal(mac.Sum(nil), got) {
		return errHand
	}
	return nil
}

type handSigner struct {
	RoleTitle      string `json:"roleTitle"`
	Email          string `json:"email"`
	Name           string `json:"name"`
	Status         string `json:"status"`
	SignerID       string `json:"signerId"`
	SignerIP       string `json:"signerIp"`
	HasDeclined    bool   `json:"hasDeclined"`
	SigningOrderNo int    `json:"signingOrderNo"`
}

// handEvent has the fields of all events, except the dynamic ones: encoding/json could read these only in a second pass.
type handEvent struct {
	WebhookEvent   string       `json:"webhookEvent"`
	DocumentName   string       `json:"documentName"`
	DocumentID     string       `json:"documentId"`
	DocumentURL    string       `json:"documentUrl"`
	AuthorEmail    string       `json:"authorEmail"`
	FinishedPDFURL string       `json:"finishedPdfUrl"`
	IsSigningOrder bool         `json:"isSigningOrder"`
	Signers        []handSigner `json:"signers"`
	ViewedBy       *struct {
		handSigner
		ViewedAt time.Time `json:"viewedAt"`
	} `json:"viewedBy"`
	SignedBy *struct {
		handSigner
		SignedAt time.Time `json:"signedAt"`
	} `json:"signedBy"`
	FormID          string `json:"formId"`
	FormResponseID  string `json:"formResponseId"`
	FormTitle       string `json:"formTitle"`
	RespondentEmail string `json:"respondentEmail"`
	Response        []struct {
		ID       string `json:"id"`
		Question string `json:"question"`
		Answer   string `json:"answer"`
	} `json:"response"`
}

func handDecode(header http.Header, body []byte) (int, error) {
	if err := handVerify(header, body); err != nil {
		return 0, err
	}
	var events []handEvent
	err := json.Unmarshal(body, &events)
	return len(events), err
}

func handHandler() Receiver {
	decoded := 0
	return serving(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "unreadable", http.StatusBadRequest)
			return
		}
		n, err := handDecode(r.Header, body)
		if err != nil {
			http.Error(w, "refused", http.StatusUnauthorized)
			return
		}
		decoded += n
		writeOK(w)
	}), &decoded)
}
