package service

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// What a look-up finds out about a send whose outcome is unknown.
const (
	lookupFound      = "found"
	lookupNotFound   = "not found"
	lookupCannotTell = "cannot tell"
)

// madeList are the documents made from a template, as the service lists them, seen from one run. Its own documents, whose ids the
// journal has, are the witness that the list shows what a run made, and how far the service's clock is from this machine's.
type madeList struct {
	all         []*signforms.Respondent
	known       map[string]bool // ids of documents that belong to other lines
	open        map[string]int  // how many sends to the same people have an unknown outcome
	seen, lost  int             // documents of the run that the list shows with their addresses, and those that it does not
	least, most time.Duration   // the service's clock less this machine's is from least to most
}

// lookUp prints for each line whose outcome is unknown what the template's list of documents says. It changes nothing.
func (c *sendCommand) lookUp(cmd *cobra.Command, client *signforms.Client, b *batch, lines []person) error {
	b.matchEntries()
	var open []int
	for i, it := range b.items {
		if it.open() {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "no line has an unknown outcome")
		return nil
	}
	made, err := c.readMade(cmd.Context(), client, b, lines)
	if err != nil {
		return fmt.Errorf("cannot tell: %w", err)
	}
	p := cli.NewPrinter(cmd, cli.Output{JSON: c.json}, sentColumns, func(r batchRecord) any { return r }, 1)
	decide, undecided := "", 0
	for _, i := range open {
		it := b.items[i]
		it.record.Item = it.label
		it.record.Outcome, it.record.CreatedDocumentID, it.record.Message = made.find(it.prior, addresses(lines[i].mailing))
		line := strings.TrimPrefix(it.label, "line ")
		switch it.record.Outcome {
		case lookupFound:
			decide += fmt.Sprintf(" --resolve %s=done", line)
		case lookupNotFound:
			decide += fmt.Sprintf(" --resolve %s=again", line)
		default:
			undecided++
		}
		if err := p.Print(it.record); err != nil {
			return err
		}
	}
	if err := p.End(); err != nil {
		return err
	}
	if decide != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "nothing was changed; to follow this, give the same command with%s\n", decide)
	}
	if undecided > 0 {
		return cli.ExitWith(cli.ExitUnknown, fmt.Errorf("%d unknown", undecided))
	}
	return nil
}

func (c *sendCommand) readMade(ctx context.Context, client *signforms.Client, b *batch, lines []person) (*madeList, error) {
	m := &madeList{known: map[string]bool{}, open: map[string]int{}}
	byID := map[string]*signforms.Respondent{}
	for r, err := range client.Templates.AllRespondents(ctx, signforms.RespondentListParams{TemplateID: c.id}) {
		if err != nil {
			return nil, err
		}
		m.all = append(m.all, r)
		byID[r.RespondentDocumentID] = r
	}
	for _, e := range b.journal.Entries() {
		m.known[e.ID] = e.ID != ""
		if e.State.Open() {
			m.open[e.Who]++
		}
	}
	for i, it := range b.items {
		if it.prior != nil && it.prior.State == journal.Done && it.prior.ID != "" {
			m.witness(it.prior, byID[it.prior.ID], addresses(lines[i].mailing))
		}
	}
	return m, nil
}

// witness notes whether the list shows a document of the run, and what its times say of the service's clock.
func (m *madeList) witness(e *journal.Entry, r *signforms.Respondent, to []string) {
	if r == nil || r.CreatedAt.IsZero() || !isTo(r, to) {
		m.lost++
		return
	}
	least, most := r.CreatedAt.Sub(e.At), r.CreatedAt.Sub(e.Intended)
	if m.seen == 0 {
		m.least, m.most = least, most
	}
	m.least, m.most = min(m.least, least), max(m.most, most)
	m.seen++
}

func isTo(r *signforms.Respondent, to []string) bool {
	var all []string
	for _, s := range r.Signers {
		all = append(all, address(s.Email))
	}
	slices.Sort(all)
	return slices.Equal(all, to)
}

// A send is looked for from lookBefore before it began, by the service's clock as far as that is known, to lookAfter after its last
// note in the journal: a service may carry out late what it got.
const lookBefore, lookAfter = time.Minute, time.Hour

// find says whether the list has the document of a send to these addresses, with its id.
func (m *madeList) find(e *journal.Entry, to []string) (outcome, id, message string) {
	var candidates []*signforms.Respondent
	for _, r := range m.all {
		from, until := e.Intended.Add(m.least-lookBefore), e.At.Add(m.most+lookAfter)
		if isTo(r, to) && !m.known[r.RespondentDocumentID] && (m.seen == 0 || r.CreatedAt.IsZero() || !r.CreatedAt.Before(from) && !r.CreatedAt.After(until)) {
			candidates = append(candidates, r)
		}
	}
	switch {
	case len(candidates) > 1, len(candidates) == 1 && m.open[e.Who] > 1:
		return lookupCannotTell, "", fmt.Sprintf("%s for %s to the same people", cli.Count(len(candidates), "document", "documents"), cli.Count(m.open[e.Who], "unknown send", "unknown sends"))
	case len(candidates) == 1 && (m.seen == 0 || candidates[0].CreatedAt.IsZero()):
		return lookupCannotTell, candidates[0].RespondentDocumentID, "this document may be it: nothing shows when it was made by this machine's clock"
	case len(candidates) == 1:
		return lookupFound, candidates[0].RespondentDocumentID, "made " + cli.Time(candidates[0].CreatedAt)
	case m.seen == 0 || m.lost > 0:
		return lookupCannotTell, "", fmt.Sprintf("the list has no such document, but shows only %d of the %d documents that this run is known to have made", m.seen, m.seen+m.lost)
	}
	return lookupNotFound, "", fmt.Sprintf("the list has no such document, and all %d that this run is known to have made", m.seen)
}
