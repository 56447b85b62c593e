package probe

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// assumedSize is the default page size that the wire format assumes. assumedLimit is the largest limit that it documents.
const (
	assumedSize  = 10
	assumedLimit = 100
	// furthestLimit is the largest limit that is tried.
	furthestLimit = 1000
)

// sizes finds out how many documents a page has, by default and at most. It keeps a sample of the newest documents.
func (r *run) sizes(ctx context.Context, first answer) error {
	hundred, err := r.list(ctx, []string{"limit", "100", "sortOrder", "desc"})
	if err != nil {
		return err
	}
	more, err := r.list(ctx, []string{"limit", "101", "sortOrder", "desc"})
	if err != nil {
		return err
	}
	if err := r.largest(ctx, hundred, more); err != nil {
		return err
	}
	if r.sample == nil {
		r.sample = hundred.documents()
	}
	if r.sample == nil {
		r.sample = more.documents()
	}
	r.pageSize(first)
	r.check("pagination", first.object["pagination"] != nil, "%s", ifThen(first.object["pagination"] != nil, "it is there", "it is missing"))
	r.report.Profile.NoPagination = first.object["pagination"] == nil
	one, err := r.list(ctx, []string{"limit", "1"})
	if err != nil {
		return err
	}
	if n := len(one.documents()); len(r.sample) > 0 && one.ok() {
		r.check("limit one", n == 1, "%d documents", n)
	}
	r.count(one)
	return nil
}

func ifThen(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// largest finds out the largest limit, starting from the answers to the limits 100 and 101.
func (r *run) largest(ctx context.Context, hundred, more answer) error {
	n := len(more.documents())
	known := more.total()
	r.size = assumedSize
	switch {
	case !hundred.ok() && !hundred.refused(), !more.ok() && !more.refused():
		r.say("largest limit", CannotTell, "100: %s; 101: %s", hundred.short(), more.short())
	case !hundred.ok():
		most, a, err := r.search(ctx, 0, assumedLimit)
		if err != nil || most == 0 {
			return err
		}
		r.size, r.sample, r.report.Profile.MaxLimit = most, a.documents(), most
		r.say("largest limit", Differs, "%d is the most", most)
	case !more.ok():
		r.size = assumedLimit
		r.check("largest limit", more.status == http.StatusBadRequest, "101: %s", more.short())
	case n > assumedLimit:
		return r.beyond(ctx)
	case n < assumedLimit && known <= n: // known is -1 when the total is not given
		r.size = assumedLimit
		r.say("largest limit", Differs, "101 is taken; with %d documents it cannot be seen whether it is cut to 100", n)
	case n > 0:
		r.size = n
		r.report.Profile.CutLimit = true
		if n != assumedLimit {
			r.report.Profile.MaxLimit = n
		}
		r.say("largest limit", Differs, "101 is taken for %d", n)
	default:
		r.size = assumedLimit
		r.say("largest limit", Differs, "101 is taken; without documents it cannot be seen whether it is cut to 100")
	}
	return nil
}

// beyond looks for the largest limit above 101.
func (r *run) beyond(ctx context.Context) error {
	r.size = assumedLimit
	far, err := r.list(ctx, []string{"limit", strconv.Itoa(furthestLimit), "sortOrder", "desc"})
	if err != nil {
		return err
	}
	if far.ok() {
		r.report.Profile.MaxLimit = furthestLimit
		r.say("largest limit", Differs, "%d is taken too", furthestLimit)
		return nil
	}
	most, _, err := r.search(ctx, assumedLimit+1, furthestLimit)
	if err != nil || most == 0 || !far.refused() {
		r.say("largest limit", Differs, "101 is taken too")
		return err
	}
	r.report.Profile.MaxLimit = most
	r.say("largest limit", Differs, "%d is the most", most)
	return nil
}

// search finds the largest accepted limit from yes, which is accepted or 0, up to no, which is refused. It returns 0 when a request
// fails.
func (r *run) search(ctx context.Context, yes, no int) (most int, last answer, err error) {
	for no-yes > 1 {
		middle := (yes + no) / 2
		a, err := r.list(ctx, []string{"limit", strconv.Itoa(middle), "sortOrder", "desc"})
		if err != nil {
			return 0, answer{}, err
		}
		switch {
		case a.ok():
			yes, last = middle, a
		case a.refused():
			no = middle
		default:
			return 0, answer{}, nil
		}
	}
	return yes, last, nil
}

func (r *run) pageSize(first answer) {
	n := len(first.documents())
	switch {
	case !first.ok(), r.size < assumedSize, len(r.sample) == 0:
	case n < len(r.sample) || first.total() > n:
		r.check("page size", n == assumedSize, "%d documents", n)
		if n != assumedSize {
			r.report.Profile.PageSize = n
		}
	case n > assumedSize:
		r.say("page size", Differs, "at least %d documents", n)
	default:
		r.say("page size", CannotTell, "there are only %d documents", n)
	}
}

// count checks documentsCount in the answer to limit=1.
func (r *run) count(one answer) {
	n, err := strconv.Atoi(string(one.object["documentsCount"]))
	switch {
	case err != nil:
		r.say("documents count", CannotTell, "documentsCount is missing")
	case len(r.sample) < 2:
		r.say("documents count", CannotTell, "there are only %d documents", len(r.sample))
	default:
		r.check("documents count", n > 1, "%d, of a page of 1 out of at least %d", n, len(r.sample))
		r.report.Profile.CountPage = n <= 1
	}
}

func created(d record) time.Time {
	text, _ := d["createdAt"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

func id(d record) string {
	s, _ := d["documentId"].(string)
	return s
}

// direction returns 1 for oldest first, -1 for newest first, 0 when all times are equal, and 2 when they are not sorted.
func direction(docs []record) (sign int) {
	for i := 1; i < len(docs); i++ {
		c := created(docs[i]).Compare(created(docs[i-1]))
		switch {
		case c == 0:
		case sign == 0:
			sign = c
		case sign != c:
			return 2
		}
	}
	return sign
}

var directions = map[int]string{1: "oldest first", -1: "newest first", 0: "all of one time", 2: "in no order of createdAt"}

// orders asks for both sort orders and without a sort order.
func (r *run) orders(ctx context.Context) error {
	size := strconv.Itoa(r.size)
	none, err := r.list(ctx, []string{"limit", size})
	if err != nil {
		return err
	}
	if d := direction(none.documents()); d != 0 {
		r.check("default order", d == -1, "%s", directions[d])
		r.report.Profile.OldestFirst = d == 1
	}
	up, err := r.list(ctx, []string{"limit", size, "sortOrder", "asc"})
	if err != nil {
		return err
	}
	asc, desc := direction(up.documents()), direction(r.sample)
	if asc != 0 && desc != 0 {
		r.check("sort orders", asc == 1 && desc == -1, "asc: %s; desc: %s", directions[asc], directions[desc])
	}
	r.ties(up.documents(), 1)
	return nil
}

// ties checks the order of documents with equal times in a list. sign is the expected order of their ids.
func (r *run) ties(docs []record, sign int) {
	sorted, seen := true, 0
	for i := 1; i < len(docs); i++ {
		if created(docs[i]).Equal(created(docs[i-1])) && !created(docs[i]).IsZero() {
			seen++
			sorted = sorted && strings.Compare(id(docs[i]), id(docs[i-1])) == sign
		}
	}
	switch {
	case seen == 0:
		r.say("ties", CannotTell, "no two documents have one time")
	case seen < 6 && sorted: // may be by chance
		r.say("ties", CannotTell, "only %d pairs have one time", seen)
	default:
		r.check("ties", sorted, "%d pairs of one time", seen)
	}
}

// pages asks for the second page with a limit of 1, and for a page past the last.
func (r *run) pages(ctx context.Context) error {
	if len(r.sample) > 1 {
		second, err := r.list(ctx, []string{"limit", "1", "page", "2", "sortOrder", "desc"})
		if err != nil {
			return err
		}
		if docs := second.documents(); len(docs) == 1 && (id(docs[0]) == id(r.sample[1]) || id(docs[0]) == id(r.sample[0])) {
			r.check("pages", id(docs[0]) == id(r.sample[1]), "page 2 of one document is the %s", ifThen(id(docs[0]) == id(r.sample[1]), "second", "first"))
		} else if len(docs) != 1 && second.ok() {
			r.say("pages", Differs, "page 2 of one document holds %d", len(docs))
		}
	}
	far, err := r.list(ctx, []string{"limit", "1", "page", "1000000"})
	if err != nil {
		return err
	}
	r.empty(far)
	return nil
}

// empty checks how a list without records is written.
func (r *run) empty(a answer) {
	raw, there := a.object["documents"]
	text := strings.TrimSpace(string(raw))
	switch {
	case !a.ok() || a.object == nil, there && text != "[]" && text != "null":
		r.say("empty list", CannotTell, "a page past the last: %s", a.short())
	case !there:
		r.say("empty list", Differs, "its key is missing")
		r.report.Profile.None = noneMissing
	case text == "null":
		r.say("empty list", Differs, "null")
		r.report.Profile.None = noneNull
	default:
		r.say("empty list", Holds, "[]")
	}
}

var knownStatuses = []string{"DRAFT", "PENDING", "SIGNED", "PAID", "DECLINED", "EXPIRED", "DELETED", "VOID"}

// statuses asks for documents in PENDING and in a status that does not exist.
func (r *run) statuses(ctx context.Context) error {
	unknown, err := r.list(ctx, []string{"limit", "1", "status", "NO_SUCH_STATUS"})
	if err != nil {
		return err
	}
	switch n := len(unknown.documents()); {
	case unknown.status == http.StatusBadRequest:
		r.say("unknown status", Holds, "%s", unknown.short())
	case unknown.ok() && n > 0:
		r.say("unknown status", Differs, "it is ignored")
		r.report.Profile.UnknownStatus = statusIgnored
	case unknown.ok() && len(r.sample) > 0:
		r.say("unknown status", Differs, "the list is empty")
		r.report.Profile.UnknownStatus = statusEmpty
	default:
		r.say("unknown status", CannotTell, "%s", unknown.short())
	}
	pending, err := r.list(ctx, []string{"limit", "1", "status", "PENDING"})
	if err != nil {
		return err
	}
	r.inProgress(pending, unknown)
	return nil
}

func (r *run) inProgress(pending, unknown answer) {
	var odd []string
	for _, d := range r.sample {
		s, _ := d["status"].(string)
		if s == "PENDING" {
			r.say("status in progress", Holds, "documents have it")
			return
		}
		if s != "" && !slices.Contains(knownStatuses, s) && !strings.EqualFold(s, "voided") && !slices.Contains(odd, s) {
			odd = append(odd, s)
		}
	}
	switch refused := pending.status == http.StatusBadRequest && unknown.status == http.StatusBadRequest; {
	case refused && len(odd) == 1:
		r.say("status in progress", Differs, "documents are %s, and PENDING is refused", word(odd[0]))
		r.report.Profile.InProgress = odd[0]
	case refused:
		r.say("status in progress", Differs, "PENDING is refused; of what is seen %d statuses are unknown", len(odd))
	case pending.ok() && unknown.status == http.StatusBadRequest:
		r.say("status in progress", Holds, "it is taken as a filter")
	default:
		r.say("status in progress", CannotTell, "no document is in progress")
	}
}

// word returns a text of the service if it looks like a status or a code, and a description otherwise.
func word(s string) string {
	if len(s) > 40 || strings.ContainsFunc(s, func(c rune) bool { return c != '_' && c != '-' && (c < 'A' || c > 'z') }) {
		return "of another spelling"
	}
	return s
}

// archived finds out whether a list without the archive filter holds archived documents.
func (r *run) archived(ctx context.Context) error {
	yes, err := r.list(ctx, []string{"limit", "1", "archive", "true"})
	if err != nil {
		return err
	}
	docs := yes.documents()
	if !yes.ok() || len(docs) == 0 || docs[0]["isArchived"] == false {
		r.say("archive", CannotTell, "%s", ifThen(yes.ok(), "no document is archived", yes.short()))
		return nil
	}
	for _, d := range r.sample {
		if d["isArchived"] == true {
			r.say("archive", Holds, "the list has archived documents")
			return nil
		}
	}
	if r.ignoreIDs {
		r.say("archive", CannotTell, "a single document cannot be asked for")
		return nil
	}
	again, err := r.list(ctx, []string{"documentId", id(docs[0])})
	if err != nil {
		return err
	}
	if !again.ok() {
		r.say("archive", CannotTell, "%s", again.short())
		return nil
	}
	there := len(again.documents()) > 0
	r.check("archive", there, "an archived document is %s", ifThen(there, "listed", "listed with archive=true only"))
	r.report.Profile.HideArchived = !there
	return nil
}

// unknownParameter asks with parameters that older clients send.
func (r *run) unknownParameter(ctx context.Context) error {
	if len(r.sample) == 0 {
		return nil
	}
	a, err := r.list(ctx, []string{"limit", "1", "sortOrder", "desc", "filter", "nothing", "sortBy", "nothing"})
	if err != nil {
		return err
	}
	if !a.ok() && !a.refused() {
		r.say("unknown parameters", CannotTell, "%s", a.short())
		return nil
	}
	docs := a.documents()
	same := len(docs) == 1 && id(docs[0]) == id(r.sample[0])
	r.check("unknown parameters", same, "filter and sortBy: %s", ifThen(same, "the same list", fmt.Sprintf("%d documents, %s", len(docs), a.short())))
	return nil
}
