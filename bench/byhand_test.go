package bench_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// What programs write by hand with net/http, crypto/hmac and encoding/json, for the same scheme and the same fields.

var errHand = errors.New("not genuine or not recent")

func verifyByHand(header http.Header, body []byte) error {
	timestamp := header.Get("X-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errHand
	}
	got, err := hex.DecodeString(header.Get("X-Signature"))
	if err != nil {
		return errHand
	}
	mac := hmac.New(sha256.New, []byte(secret))
	io.WriteString(mac, timestamp+".")
	mac.Write(body)
	if !hmac.Equal(mac.Sum(nil), got) {
		return errHand
	}
	return nil
}

type signerByHand struct {
	RoleTitle      string `json:"roleTitle"`
	Email          string `json:"email"`
	Name           string `json:"name"`
	Status         string `json:"status"`
	SignerID       string `json:"signerId"`
	SignerIP       string `json:"signerIp"`
	HasDeclined    bool   `json:"hasDeclined"`
	SigningOrderNo int    `json:"signingOrderNo"`
}

type documentByHand struct {
	DocumentName   string         `json:"documentName"`
	DocumentID     string         `json:"documentId"`
	DocumentURL    string         `json:"documentUrl"`
	AuthorEmail    string         `json:"authorEmail"`
	FinishedPDFURL string         `json:"finishedPdfUrl"`
	IsSigningOrder bool           `json:"isSigningOrder"`
	Signers        []signerByHand `json:"signers"`
}

// eventByHand has the fields of all events, but for the dynamic ones: encoding/json would need a second pass for them.
type eventByHand struct {
	documentByHand
	WebhookEvent string `json:"webhookEvent"`
	ViewedBy     *struct {
		signerByHand
		ViewedAt time.Time `json:"viewedAt"`
	} `json:"viewedBy"`
	SignedBy *struct {
		signerByHand
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

func decodeByHand(header http.Header, body []byte) (int, error) {
	if err := verifyByHand(header, body); err != nil {
		return 0, err
	}
	var events []eventByHand
	err := json.Unmarshal(body, &events)
	return len(events), err
}

func handVerify() func(*delivery) (int, error) {
	return func(d *delivery) (int, error) { return 0, verifyByHand(d.request.Header, d.body) }
}

func handDecode() func(*delivery) (int, error) {
	return func(d *delivery) (int, error) { return decodeByHand(d.request.Header, d.body) }
}

func handHandler() func(*delivery) (int, error) {
	decoded := 0
	return serving(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "unreadable", http.StatusBadRequest)
			return
		}
		n, err := decodeByHand(r.Header, body)
		if err != nil {
			http.Error(w, "refused", http.StatusUnauthorized)
			return
		}
		decoded += n
		fmt.Fprint(w, `{"status":"ok"}`)
	}), &decoded)
}

// pageByHand is the answer to a list.
type pageByHand struct {
	Documents []struct {
		documentByHand
		Status      string    `json:"status"`
		SigningType string    `json:"signingType"`
		IsArchived  bool      `json:"isArchived"`
		IsAllSigned bool      `json:"isAllSigned"`
		CreatedAt   time.Time `json:"createdAt"`
		UpdatedAt   time.Time `json:"updatedAt"`
	} `json:"documents"`
	Pagination struct {
		TotalPages     int `json:"totalPages"`
		TotalDocuments int `json:"totalDocuments"`
	} `json:"pagination"`
}

// listByHand gets documents. query is that of the URL.
func listByHand(ctx context.Context, baseURL, query string) (page pageByHand, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, baseURL+"/get-documents?documentType=PDF&"+query, nil)
	if err != nil {
		return page, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-Api-Key", apiKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return page, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return page, err
	}
	if resp.StatusCode != http.StatusOK {
		return page, fmt.Errorf("listing documents: status %d", resp.StatusCode)
	}
	return page, json.Unmarshal(body, &page)
}

// countByHand reads all documents page by page, and returns their number.
func countByHand(ctx context.Context, baseURL string) (n int, err error) {
	for page, pages := 1, 1; page <= pages; page++ {
		answer, err := listByHand(ctx, baseURL, "limit=100&page="+strconv.Itoa(page))
		if err != nil {
			return n, err
		}
		pages = answer.Pagination.TotalPages
		n += len(answer.Documents)
	}
	return n, nil
}
