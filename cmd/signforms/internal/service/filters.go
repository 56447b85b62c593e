package service

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/batch"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// held is a record held against what was asked for. The service may not have filtered at all.
type held struct {
	id     string
	other  bool     // it shows something else
	hidden []string // the fields that would tell, which it does not show
}

// against notes whether the record fits in a field that was asked for.
func (h *held) against(field string, shown, fits bool) {
	switch {
	case !shown:
		h.hidden = append(h.hidden, field)
	case !fits:
		h.other = true
	}
}

// text is against for words and ids, without regard to case. An empty asked means that nothing was.
func (h *held) text(field, asked, shown string) {
	if asked != "" {
		h.against(field, shown != "", strings.EqualFold(asked, shown))
	}
}

// heldDocument counts a document that shows no isArchived as not archived.
func heldDocument(p signforms.DocumentListParams) func(*signforms.Document) held {
	return func(d *signforms.Document) held {
		h := held{id: d.DocumentID}
		h.text("id", p.DocumentID, d.DocumentID)
		h.text("status", string(p.Status), string(d.Status))
		if p.Archived != nil {
			h.against("isArchived", true, *p.Archived == d.IsArchived)
		}
		if !p.DateFrom.IsZero() || !p.DateTo.IsZero() {
			h.against("createdAt", !d.CreatedAt.IsZero(), !d.CreatedAt.Before(p.DateFrom) && (p.DateTo.IsZero() || !d.CreatedAt.After(p.DateTo)))
		}
		return h
	}
}

func heldRespondent(p signforms.RespondentListParams) func(*signforms.Respondent) held {
	return func(r *signforms.Respondent) held {
		h := held{id: r.RespondentDocumentID}
		h.text("id", p.RespondentDocumentID, r.RespondentDocumentID)
		h.text("templateId", p.TemplateID, r.TemplateID)
		return h
	}
}

func heldResponse(p signforms.ResponseListParams) func(*signforms.FormResponse) held {
	return func(r *signforms.FormResponse) held {
		h := held{id: r.ResponseID}
		if !strings.EqualFold(p.ResponseID, r.FormResponseID) { // a response has two ids
			h.text("id", p.ResponseID, r.ResponseID)
		}
		h.text("formId", p.FormID, r.FormID)
		return h
	}
}

// agreeing leaves out records that do not show that they are what was asked for, and ends with an error if there were any.
func agreeing[T any](hold func(*T) held, all iter.Seq2[*T, error]) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		others, hidden, ids := 0, "", []string(nil)
		for record, err := range all {
			var h held
			if err == nil {
				h = hold(record)
			}
			switch {
			case h.other:
				others++
			case len(h.hidden) > 0:
				hidden, ids = strings.Join(h.hidden, " and "), append(ids, h.id)
			case !yield(record, err):
				return
			}
		}
		var texts []string
		if others > 0 {
			texts = append(texts, fmt.Sprintf("the service listed %s against the filters, left out here: its list may lack others",
				cli.Count(others, "record", "records")))
		}
		if n := len(ids); n > 0 {
			texts = append(texts, fmt.Sprintf("%s no %s, by which the filters could be checked, left out here: %s",
				cli.Count(n, "record shows", "records show"), hidden, cli.Plain(batch.Named(ids))))
		}
		if len(texts) > 0 {
			yield(nil, cli.ExitWith(cli.ExitPartial, errors.New(strings.Join(texts, "; "))))
		}
	}
}

// onePage returns the records of a page as a sequence. A page that says that it is another than the one asked for is an error.
func onePage[T any](c listClient, op signforms.Operation, asked int, page *signforms.Page[T], err error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if err == nil && page.Pagination != nil {
			is := page.Pagination.CurrentPage
			fromZero := c.endpoints[op].PagesFromZero && is == asked-1
			if is > 0 && is != asked && !fromZero {
				err = fmt.Errorf("asked for page %d, and the service says that this is page %d", asked, is)
			}
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range page.Items {
			if !yield(&page.Items[i], nil) {
				return
			}
		}
	}
}
