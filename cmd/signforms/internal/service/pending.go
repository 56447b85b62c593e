package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/batch"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// pendingList collects the documents that show the status that means pending.
type pendingList struct {
	c          *remindCommand
	client     *signforms.Client
	items      []*batch.Item
	others     map[signforms.DocumentStatus]int // in the list of pending documents, against its filter
	noStatus   []string                         // ids
	ofTemplate map[string]string                // the template of each document made from one, by its id
	notes      []string                         // of lists that records made whole
	incomplete []string                         // which lists may lack records
	read       int                              // records
}

// findPending collects the whole list before the first reminder, because the list changes while people sign. It says on stderr which
// records it leaves out.
func (c *remindCommand) findPending(cmd *cobra.Command, client *signforms.Client, b *batch.Batch) error {
	l := &pendingList{c: c, client: client, others: map[signforms.DocumentStatus]int{}, ofTemplate: map[string]string{}}
	if err := l.readAll(cmd.Context()); l.incompleteBy(err) {
		return cli.ExitWith(cli.ExitPartial, fmt.Errorf("%w; nothing was sent; --allow-incomplete reminds those that were found", err))
	} else if err != nil {
		return err
	}
	b.Items, b.Order = l.items, longestWaitingFirst
	l.explain(cmd, b)
	return nil
}

// longestWaitingFirst arranges documents that are in the order of their lists, which are newest first: those that were not tried, the
// oldest first, then those that were tried longest ago. So the few that the limit allows are not the same each time.
func longestWaitingFirst(todo []*batch.Item) {
	slices.Reverse(todo)
	slices.SortStableFunc(todo, func(a, b *batch.Item) int {
		return cmp.Or(a.TriedAt().Compare(b.TriedAt()), a.Made.Compare(b.Made))
	})
}

func (l *pendingList) readAll(ctx context.Context) error {
	all := l.client.Documents.All(ctx, signforms.DocumentListParams{Status: signforms.DocumentStatus(l.c.status)})
	err := each(l, "documents", all, func(d *signforms.Document) error {
		if !l.add(d.Ref(), d.DocumentID, d.Status, d.CreatedAt, batch.Record{DocumentID: d.DocumentID}) {
			l.others[d.Status]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	return each(l, "templates", l.client.Templates.All(ctx, signforms.TemplateListParams{}), func(t *signforms.Document) error {
		return l.readTemplate(ctx, t)
	})
}

// readTemplate adds the pending documents made from a template: those of the list of its documents, and those that only the template's
// record shows.
func (l *pendingList) readTemplate(ctx context.Context, t *signforms.Document) error {
	found, others := map[string]bool{}, 0
	add := func(id, templateID string, status signforms.DocumentStatus, made time.Time) {
		var h held
		h.text("templateId", t.DocumentID, templateID)
		key := strings.ToLower(id)
		if of, seen := l.ofTemplate[key]; h.other || seen && of != t.DocumentID {
			others++
		} else if !seen {
			found[key], l.ofTemplate[key] = true, t.DocumentID
			l.add(signforms.TemplateDocument(t.DocumentID, id), id, status, made, refRecord(t.DocumentID, id))
		}
	}
	list := l.client.Templates.AllRespondents(ctx, signforms.RespondentListParams{TemplateID: t.DocumentID})
	err := each(l, "documents made from template "+t.DocumentID, list, func(r *signforms.Respondent) error {
		add(r.RespondentDocumentID, r.TemplateID, r.Status, r.CreatedAt)
		return nil
	})
	if err != nil {
		return err
	}
	listed := len(found)
	for _, r := range t.Respondents {
		add(r.RespondentDocumentID, r.TemplateID, r.Status, r.CreatedAt)
	}
	if own := len(found) - listed; own > 0 {
		l.notes = append(l.notes, fmt.Sprintf("template %s shows %s not in the list of its documents", t.DocumentID,
			cli.Count(own, "document that is", "documents that are")))
	}
	if others > 0 {
		l.notes = append(l.notes, fmt.Sprintf("asked for the documents made from template %s, the service listed %s of other templates, left out there",
			t.DocumentID, cli.Count(others, "document", "documents")))
	}
	if missing := t.TotalRespondents - len(found); missing > 0 {
		l.incomplete = append(l.incomplete, fmt.Sprintf("template %s counts %s, of which %s not shown and not looked at", t.DocumentID,
			cli.Count(t.TotalRespondents, "document", "documents"), cli.Count(missing, "is", "are")))
	}
	return nil
}

// add adds a document that shows that it is pending. It reports false for one that shows another status.
func (l *pendingList) add(ref signforms.DocumentRef, id string, status signforms.DocumentStatus, made time.Time, r batch.Record) bool {
	switch {
	case strings.EqualFold(string(status), l.c.status):
		it := l.c.item(l.client, ref, id, r)
		it.Made = made
		l.items = append(l.items, it)
	case status == "":
		l.noStatus = append(l.noStatus, id)
	default:
		return false
	}
	return true
}

// incompleteBy reports whether records were found of which an error leaves out others.
func (l *pendingList) incompleteBy(err error) bool {
	return errors.Is(err, signforms.ErrIncomplete) || err != nil && l.read > 0 && !errors.Is(err, context.Canceled)
}

// each calls use for each record of a list. What makes the list incomplete is an error, unless --allow-incomplete was given.
func each[T any](l *pendingList, name string, all iter.Seq2[*T, error], use func(*T) error) error {
	for record, err := range all {
		switch {
		case l.c.incomplete && l.incompleteBy(err):
			l.incomplete = append(l.incomplete, fmt.Sprintf("the list of %s may lack some (%s)", name, inFlags(err)))
		case err != nil:
			return err
		default:
			l.read++
			if err := use(record); err != nil {
				return err
			}
		}
	}
	return nil
}

// explain says which records are left out, and what the run may lack.
func (l *pendingList) explain(cmd *cobra.Command, b *batch.Batch) {
	stderr := cmd.ErrOrStderr()
	for _, text := range slices.Concat(l.notes, l.incomplete) {
		fmt.Fprintln(stderr, text)
	}
	if len(l.incomplete) > 0 {
		b.Lacks = append(b.Lacks, "the list may lack documents")
	}
	var others []string
	n := 0
	for status, count := range l.others {
		others = append(others, fmt.Sprintf("%d %s", count, cli.Plain(string(status))))
		n += count
	}
	if n > 0 {
		slices.Sort(others)
		fmt.Fprintf(stderr, "asked for %s documents, the service listed %s, which are not reminded: %s\n",
			l.c.status, cli.Count(n, "other", "others"), strings.Join(others, ", "))
	}
	if n := len(l.noStatus); n > 0 {
		text := fmt.Sprintf("%d documents show no status and are not reminded", n)
		if n == 1 {
			text = "1 document shows no status and is not reminded"
		}
		fmt.Fprintf(stderr, "%s: %s\n", text, batch.Named(l.noStatus))
		b.Lacks = append(b.Lacks, fmt.Sprintf("%d without a status", n))
	}
}
