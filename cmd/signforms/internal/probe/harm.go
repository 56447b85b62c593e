package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
)

// This file decides whether anything may be asked that could void a document or remind its signers. Before the first such request
// the lists must prove that ids and the workspace count. After each of them, whatever it was answered, all documents are read again:
// a service may act on another record and answer 404.

// unsafe says why requests with a random id may do harm; empty when they may not.
func (r *run) unsafe(ctx context.Context) string {
	switch {
	case r.WorkspaceID == "":
		return "no workspace was confirmed"
	case !r.filtered || !r.holds("id filter") || len(r.sample) < 2:
		return "that the service looks at ids is not proven"
	case !r.complete || len(r.sample) > MostDocuments-(assumedLimit-r.size):
		return "the workspace is not known to hold so few documents that pages of different sizes show whether one was changed"
	}
	if r.archive(); !r.shownArchived() {
		return "the workspace is not known to show its archived documents in that page"
	}
	own := r.layouts()
	for range 3 { // one answer may be that of a firewall, or of a service in trouble
		if other := r.ask(ctx, question{workspace: Stranger(r.WorkspaceID), do: listDocuments(params{Limit: 1})}); !other.denied(own) {
			return fmt.Sprintf("a workspace that does not exist is answered %s, %d documents, which does not prove that the workspace counts", other.short(), len(other.records))
		}
		before := r.state
		if r.state = r.look(ctx); r.state == "" || before != "" && before != r.state {
			return "the list of documents fails or changes by itself, so it would not show whether one was changed"
		}
	}
	return ""
}

// shownArchived reports whether the list without a filter is known to hold the archived documents: archive=true gives no others, and
// none or those that are marked so.
func (r *run) shownArchived() bool {
	a := r.archives
	return a.ok() && (len(a.records) == 0 || r.holds("archive")) && shared(a.records, r.sample) == len(a.records)
}

// denied reports whether the service refuses a workspace in one of its own layouts, or has nothing in it.
func (a answer) denied(own []layout) bool {
	if a.ok() {
		return len(a.records) == 0
	}
	refused := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}
	name := layoutOf(a).name
	return slices.Contains(refused, a.Status) && name != noJSON && name != htmlPage && slices.ContainsFunc(own, func(l layout) bool { return l.name == name })
}

// look returns all that the list says of the documents, but for the URLs of files, which may be signed anew each time; "" when they
// cannot be read. No look has the inputs of an earlier request: a cache may hold its answer from before an act.
func (r *run) look(ctx context.Context) string {
	p := params{Limit: r.size - r.looks/2, Page: 1}
	if r.looks++; r.looks%2 == 0 {
		p.SortOrder = signforms.OldestFirst
	}
	a := r.documents(ctx, p)
	var all []string
	for _, rec := range a.records {
		if rec.doc.Status == "" || rec.raw == nil {
			return ""
		}
		shown := maps.Clone(rec.raw)
		delete(shown, "documentUrl")
		delete(shown, "finishedPdfUrl")
		text, _ := json.Marshal(shown) // cannot fail for what was decoded
		all = append(all, string(text))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// judge says whether nothing more may be asked after an answer. what names the request.
func (a *action) judge(ctx context.Context, got answer, what string) (stop bool) {
	r := a.r
	if local, _ := errors.AsType[*signforms.Error](got.err); local != nil && local.Local || got.Method == "" {
		r.say(string(a.op), CannotTell, "not sent: the limit of reminders is used up, its store does not answer, or the endpoint cannot be used")
		return true
	}
	seen := "the documents are as before"
	switch now := r.look(ctx); {
	case now == "":
		seen = "the documents could not be read after it"
	case now != r.state:
		seen = "a document was changed, by it or an earlier request"
	case !got.mayBeDone():
		return r.stop != nil
	}
	r.report.MayHaveActed = fmt.Sprintf("%s by %s, with a random id, was answered: %s; %s", what, got.Method, got.short(), seen)
	r.say(string(a.op), CannotTell, "%s by %s with a random id may have been carried out: nothing more was asked", got.short(), got.Method)
	return true
}

// mayBeDone reports whether an answer leaves open that something was changed. Only a refusal of the inputs, or that there is no such
// record, rules it out. A status that forbids it (409, 422) is that of a record, and no record has a random id.
func (a answer) mayBeDone() bool {
	refusals := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusTooManyRequests}
	e, _ := errors.AsType[*signforms.Error](a.err)
	switch {
	case e == nil || e.Code == "invalid_status":
		return true
	case a.Status/100 == 2:
		return !errors.Is(e, signforms.ErrNotFound) && !errors.Is(e, signforms.ErrInvalid)
	}
	return !slices.Contains(refusals, a.Status)
}
