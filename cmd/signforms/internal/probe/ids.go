package probe

import (
	"context"
	"crypto/rand"
	"math/big"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
)

func pick(from string) byte {
	n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(from)))) // never fails
	return from[n.Int64()]
}

// letters returns a word that no path has, nor an abbreviation such as pdf.
func letters(n int) string {
	word := make([]byte, n)
	for i := range word {
		word[i] = pick("bcghjklmnqrtvwxz")
	}
	return string(word)
}

// stranger returns a text of the same shape that the service does not know: each letter and digit is another.
func stranger(text string) string {
	hex := !strings.ContainsFunc(text, func(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF-", c) })
	out := []byte(text)
	for i, c := range out {
		switch {
		case hex && (c >= 'a' && c <= 'f'):
			out[i] = pick("abcdef")
		case hex && (c >= 'A' && c <= 'F'):
			out[i] = pick("ABCDEF")
		case c >= 'a' && c <= 'z':
			out[i] = pick(lower)
		case c >= 'A' && c <= 'Z':
			out[i] = pick(strings.ToUpper(lower))
		case c >= '0' && c <= '9':
			out[i] = pick(digits[1:])
		}
	}
	return string(out)
}

// unknownID returns an id that no document has, in the form of those of the account.
func (r *run) unknownID() string {
	if len(r.sample) == 0 || len(r.sample[0].id) == 36 {
		return randomID()
	}
	if known := r.sample[0].id; len(known) >= 16 {
		return stranger(known)
	}
	if strings.ContainsFunc(r.sample[0].id, func(c rune) bool { return !strings.ContainsRune(digits, c) }) {
		return stranger(r.sample[0].id + letters(8))
	}
	return stranger("100000000")
}

// ids asks for documents by an unknown id, by a known id in lower and upper case, and by a text that is not an id.
func (r *run) ids(ctx context.Context) {
	by := func(id string) answer { return r.documents(ctx, params{}, "documentId", id) }
	unknown := by(r.unknownID())
	ignored := unknown.ok() && len(unknown.records) > 0
	if ignored {
		unknown = r.otherIDName(ctx, unknown)
	}
	r.empties(unknown)
	if unknown.none() && len(r.sample) > 0 {
		r.knownID(by, unknown)
	} else if len(r.sample) > 0 && !ignored {
		r.say("id filter", CannotTell, "an unknown id: %s", unknown.short())
	}
	r.badID = by("not-an-id")
	switch bad := r.badID; {
	case !unknown.none():
		r.say("malformed id", CannotTell, "an unknown id is not told apart from others")
	case bad.invalid():
		r.say("malformed id", Holds, "%s", bad.short())
	case len(r.sample) == 0:
	case bad.none() && bad.Status == unknown.Status:
		r.say("malformed id", Differs, "it is unknown instead: %s", bad.short())
		r.report.Profile.AnyID = true
	case bad.refused():
		r.say("malformed id", Differs, "%s", bad.short())
	case bad.ok() && len(bad.records) > 0:
		r.say("malformed id", Differs, "it is ignored")
	}
}

// otherIDName looks for the service's name of documentId, and returns the answer to an unknown id by that name.
func (r *run) otherIDName(ctx context.Context, ignored answer) answer {
	n := len(ignored.records)
	p := params{DocumentID: randomID()}
	a := r.rename(ctx, "documentId", []string{"id", "document_id", "docId"}, p.DocumentID, answer.none, p, ignored)
	if a.none() {
		r.say("id filter", Differs, "documentId is called %s", r.report.Endpoints[signforms.OpListDocuments].Names["documentId"])
		return a
	}
	r.say("id filter", Differs, "an id that no document has gives %d documents", n)
	r.report.Profile.IgnoreIDs = alike(ignored, r.first) // else it compares a part of the id
	return a
}

func (r *run) knownID(by func(string) answer, unknown answer) {
	known := r.sample[len(r.sample)/2].id
	if r.sorted && !r.complete { // some services search the newest alone
		known = r.up.records[0].id
	}
	one := by(known)
	if !one.ok() {
		r.say("id filter", CannotTell, "a known id: %s", one.short())
		return
	}
	alone := len(one.records) == 1 && strings.EqualFold(one.records[0].id, known)
	if r.outcomes["id filter"].Outcome == "" && alone {
		r.say("id filter", Holds, "a known id gives its document, an unknown one none (%s)", unknown.short())
	} else if r.outcomes["id filter"].Outcome == "" && len(one.records) != 0 {
		r.say("id filter", Differs, "a known id gives %d documents", len(one.records))
	}
	upper := strings.ToUpper(known)
	if r.filtered = alone; !alone || upper == known {
		return
	}
	switch again := twice(func() answer { return by(upper) }); {
	case again.ok() && len(again.records) == 1 && strings.EqualFold(again.records[0].id, known):
		r.say("ids in any case", Holds, "found in upper case")
	case again.none(), again.invalid():
		r.say("ids in any case", Differs, "in upper case: %s", again.short())
	}
}

// noSuchStatus is a status that no service has.
const noSuchStatus = "NO_SUCH_STATUS"

// statuses asks for documents in PENDING, in a status that they have, and in one that does not exist.
func (r *run) statuses(ctx context.Context) {
	by := func(s string) answer { return r.documents(ctx, params{Status: signforms.DocumentStatus(s), Limit: 1}) }
	unknown, pending := by(noSuchStatus), by("PENDING")
	r.empties(unknown)
	known := pending
	own := r.ownStatuses()
	if !pending.ok() || len(pending.records) == 0 {
		if len(own) > 0 {
			known = by(own[0])
		}
	}
	works := known.ok() && len(known.records) > 0
	switch {
	case unknown.invalid() && works:
		r.say("unknown status", Holds, "%s, and documents in a known one", unknown.short())
	case unknown.refused() && !unknown.missing() && works:
		r.say("unknown status", Differs, "%s", unknown.short())
	case unknown.ok() && len(unknown.records) > 0:
		r.say("unknown status", Differs, "it is ignored")
		r.report.Profile.UnknownStatus = signformstest.UnknownStatusIgnored
	case unknown.ok() && works:
		r.say("unknown status", Differs, "the list is empty")
		r.report.Profile.UnknownStatus = signformstest.UnknownStatusEmpty
	case unknown.missing() && works:
		r.say("unknown status", Differs, "%s", unknown.short())
	default:
		r.say("unknown status", CannotTell, "unknown: %s; known: %s", unknown.short(), known.short())
	}
	r.inProgress(pending, unknown, works, own)
}

var knownStatuses = []string{"DRAFT", "PENDING", "SIGNED", "PAID", "DECLINED", "EXPIRED", "DELETED", "VOID"}

// ownStatuses are the statuses of documents that are still to be signed, or else those of all.
func (r *run) ownStatuses() (own []string) {
	for _, open := range []bool{true, false} {
		for _, rec := range r.sample {
			waits := slices.ContainsFunc(rec.doc.Signers, func(s signforms.Signer) bool {
				return s.Status == signforms.SignerPending || s.Status == signforms.SignerViewed
			})
			if s := statusOf(rec); waits == open && s != "" && !slices.Contains(own, s) {
				own = append(own, s)
			}
		}
	}
	return own
}

func statusOf(rec record) (s string) {
	unmarshal(rec.raw["status"], &s)
	return s
}

// inProgress finds the literal of the status in progress. It is not PENDING if PENDING is refused like a status that does not exist,
// while documents that wait for their signers are listed by another.
func (r *run) inProgress(pending, unknown answer, works bool, own []string) {
	var odd []string
	for _, s := range own {
		if !slices.Contains(knownStatuses, s) && !strings.EqualFold(s, "voided") {
			odd = append(odd, s)
		}
	}
	has := slices.Contains(own, "PENDING")
	switch refused := pending.invalid() && unknown.invalid() && works; {
	case has && len(odd) == 0:
		r.say("status in progress", Holds, "documents have it, and none that waits for its signers has another")
	case has:
		r.say("status in progress", CannotTell, "documents have it, and others %s", foreign(odd[0]))
	case refused && len(odd) == 1:
		r.say("status in progress", Differs, "documents are %s, and PENDING is refused", foreign(odd[0]))
		r.report.Profile.InProgress = odd[0]
	case refused:
		r.say("status in progress", Differs, "PENDING is refused like a status that does not exist")
	case pending.ok() && unknown.invalid() && len(odd) == 0:
		r.say("status in progress", Holds, "it is taken as a filter, and another word is refused")
	default:
		r.say("status in progress", CannotTell, "no document shows it, and PENDING is answered like a word that is no status")
	}
}

// archived finds out whether a list without the archive filter holds archived documents: all of those that archive=true lists, in
// the part of the list that was seen.
func (r *run) archived(ctx context.Context) {
	yes := r.documents(ctx, params{Archived: new(true), Limit: r.size})
	list := ids(slices.Concat(r.sample, r.up.records))
	// Both lists have an end of the whole list. A listed document is in one of them if its time is before the other end of that.
	reached := func(rec record) bool {
		up := r.up.records
		early := r.sorted && rec.created.Before(up[len(up)-1].created)
		return early || r.complete || r.sorted && direction(r.sample) == -1 && rec.created.After(r.sample[len(r.sample)-1].created)
	}
	in, out := 0, 0
	for _, rec := range yes.records {
		switch {
		case !rec.doc.IsArchived:
		case slices.Contains(list, rec.id):
			in++
		case reached(rec):
			out++
		}
	}
	switch {
	case in > 0 && out > 0:
		r.say("archive", CannotTell, "%d of %d archived documents are listed", in, in+out)
	case in > 0:
		r.say("archive", Holds, "%d archived documents are listed", in)
	case slices.ContainsFunc(r.sample, func(rec record) bool { return rec.doc.IsArchived }):
		r.say("archive", CannotTell, "the list has archived documents, and archive=true does not")
	case out > 0:
		r.say("archive", Differs, "%d archived documents are listed with archive=true only", out)
		r.report.Profile.HideArchived = true
	default:
		r.say("archive", CannotTell, "no archived document was seen in the part of the list that was read")
	}
}

// unknownParameter asks with parameters that older clients send and one that nobody has.
func (r *run) unknownParameter(ctx context.Context) {
	p := params{Limit: min(5, r.size)}
	if r.sorted {
		p.SortOrder = signforms.OldestFirst
	}
	nobody := "probe" + letters(6)
	for range 2 { // what differs is asked once more
		without := r.documents(ctx, p)
		with := r.documents(ctx, p, "filter", "nothing", "sortBy", "nothing", nobody, "1")
		switch {
		case len(without.records) == 0 || !without.ok():
			return
		case slices.Equal(ids(with.records), ids(without.records)):
			r.say("unknown parameters", Holds, "the same list as without them")
			return
		case with.refused():
			if alone := r.documents(ctx, p, nobody, "1"); alone.refused() {
				r.say("unknown parameters", Differs, "%s", alone.short())
			} else {
				r.say("unknown parameters", CannotTell, "filter or sortBy is refused, another one is not")
			}
			return
		}
	}
	r.say("unknown parameters", CannotTell, "the list with them is another, or it moves")
}
