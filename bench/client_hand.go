package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// HandClient lists documents without an SDK: with net/http, encoding/json and a struct for each record.
type HandClient struct {
	BaseURL string
}

// HandDocument has those fields of a signforms.Document that PDF documents have.
type HandDocument struct {
	DocumentID     string       `json:"documentId"`
	DocumentName   string       `json:"documentName"`
	DocumentURL    string       `json:"documentUrl"`
	FinishedPDFURL string       `json:"finishedPdfUrl"`
	AuthorEmail    string       `json:"authorEmail"`
	Status         string       `json:"status"`
	SigningType    string       `json:"signingType"`
	IsSigningOrder bool         `json:"isSigningOrder"`
	IsArchived     bool         `json:"isArchived"`
	IsAllSigned    bool         `json:"isAllSigned"`
	Signers        []handSigner `json:"signers"`
	CreatedAt      time.Time    `json:"createdAt"`
	UpdatedAt      time.Time    `json:"updatedAt"`
}

type handPage struct {
	Message    string         `json:"message"`
	Documents  []HandDocument `json:"documents"`
	Pagination struct {
		CurrentPage    int `json:"currentPage"`
		TotalPages     int `json:"totalPages"`
		TotalDocuments int `json:"totalDocuments"`
	} `json:"pagination"`
}

// List returns one page of 100 documents, and how many pages there are.
func (c HandClient) List(ctx context.Context, page int) (documents []HandDocument, pages int, err error) {
	answer, err := getByHand(ctx, c.BaseURL+"/get-documents?documentType=PDF&limit=100&page="+strconv.Itoa(page))
	return answer.Documents, answer.Pagination.TotalPages, err
}

func getByHand(ctx context.Context, url string) (answer handPage, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-Api-Key", APIKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer, err
	}
	if resp.StatusCode != http.StatusOK {
		return answer, fmt.Errorf("listing documents: status %d", resp.StatusCode)
	}
	err = json.Unmarshal(body, &answer)
	return answer, err
}

// All returns all documents, and gets them page by page.
func (c HandClient) All(ctx context.Context) iter.Seq2[*HandDocument, error] {
	return func(yield func(*HandDocument, error) bool) {
		for page, pages := 1, 1; page <= pages; page++ {
			documents, total, err := c.List(ctx, page)
			if err != nil {
				yield(nil, err)
				return
			}
			pages = total
			for i := range documents {
				if !yield(&documents[i], nil) {
					return
				}
			}
		}
	}
}
