package probe

import (
	"context"
	"crypto/rand"
	"math/big"
	"reflect"
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

// Stranger returns a random text of the same shape, such as an API key or an id that, most likely, nobody has. It has the prefix of
// the text, up to the last separator that six characters follow: a service may look at that alone.
func Stranger(text string) string {
	if end := strings.LastIndexAny(text[:max(0, len(text)-6)], "_-") + 1; end > 0 {
		return text[:end] + Stranger(text[end:])
	}
	hex := !strings.ContainsFunc(text, func(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF-", c) })
	out := []byte(text)
	for i, c := range out {
		for _, kind := range []string{ifThen(hex, lower[:6], lower), strings.ToUpper(ifThen(hex, lower[:6], lower)), digits} {
			if strings.IndexByte(kind, c) >= 0 {
				out[i] = pick(strings.TrimPrefix(kind, "0"))
			}
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
		return Stranger(known)
	}
	if strings.ContainsFunc(r.sample[0].id, func(c rune) bool { return !strings.ContainsRune(digits, c) }) {
		return Stranger(r.sample[0].id + letters(8))
	}
	return Stranger("100000000")
}

// ids asks for documents by an unknown id, by a known id in lower and upper case, and by a text that is not an id.
func (r *run) ids(ctx context.Context) {
	by := func(id string) answer { return r.documents(ctx, params{}, "documentId", id) }
	unknown := by(r.unknownID())
	ignored := unknown.ok() && len(unknown.records) > 0
	if ignored {
		unknown = r.otherIDName(ctx, unknown)
	}
	if unknown.none() && len(r.sample) > 0 {
		r.knownID(by, unknown)
		if op := signforms.OpListDocuments; !r.filtered && ignored { // that name is of something else
			r.report.Endpoints = r.with(op, func(e *signforms.Endpoint) { delete(e.Names, "documentId") })
			r.say("id filter", Differs, "an id that no document has gives documents")
		}
	} else if len(r.sample) > 0 && !ignored {
		r.say("id filter", CannotTell, "an unknown id: %s", unknown.short())
	}
	r.badID = twice(func() answer { return by(notAnID) })
	switch bad := r.badID; {
	case !unknown.none():
		r.say("malformed id", CannotTell, "an unknown id is not told apart from others")
	case bad.invalid() && len(r.unknownID()) == len(randomID()):
		if second := by(anObjectID); second.invalid() {
			r.say("malformed id", Holds, "%s", bad.short())
		} else {
			r.say("malformed id", ifThen(second.taken(), Differs, CannotTell), "not-an-id: %s; an ObjectId: %s", bad.short(), second.short())
		}
	case bad.invalid():
		r.say("malformed id", CannotTell, "%s; ids here are no UUIDs", bad.short())
	case len(r.sample) == 0:
	case bad.none() && bad.Status == unknown.Status:
		r.say("malformed id", Differs, "it is unknown instead: %s", bad.short())
		r.report.Profile.AnyID = true
	case bad.refused():
		r.say("malformed id", Differs, "%s", bad.short())
	case bad.ok() && len(bad.records) > 0:
		r.say("malformed id", Differs, "it is ignored")
	case bad.settled() && by(r.unknownID()).none(): // else something in front may refuse everything by now
		r.say("malformed id", Differs, "%s", bad.short())
	}
}

// otherIDName looks for the service's name of documentId, and returns the answer to an unknown id by that name.
func (r *run) otherIDName(ctx context.Context, ignored answer) answer {
	n := len(ignored.records)
	a := r.rename(ctx, "documentId", []string{"id", "document_id", "docId"}, randomID(), answer.none, params{}, ignored)
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
	r.filtered = one.is(known)
	if r.outcomes["id filter"].Outcome == "" && r.filtered {
		r.say("id filter", Holds, "a known id gives its document, an unknown one none (%s)", unknown.short())
	} else if r.outcomes["id filter"].Outcome == "" && len(one.records) != 0 {
		r.say("id filter", Differs, "a known id gives %d records", len(one.records))
	}
	if other := r.otherKind(known); r.filtered && other != "" {
		by(other)
	}
}

// is reports whether an answer is the document of an id.
func (a answer) is(id string) bool {
	return a.ok() && len(a.records) == 1 && strings.EqualFold(a.records[0].id, id)
}

// otherKind returns the id of a document of another kind: an archived one, or one of another status; or "".
func (r *run) otherKind(known string) (id string) {
	all := r.everything()
	at := slices.IndexFunc(all, func(rec record) bool { return rec.id == known })
	for _, rec := range all {
		switch {
		case at < 0 || rec.id == known:
		case rec.doc.IsArchived && !all[at].doc.IsArchived:
			return rec.id
		case id == "" && statusOf(rec) != statusOf(all[at]):
			id = rec.id
		}
	}
	return id
}

// These are ids that no document has, and that are no UUIDs.
const notAnID, anObjectID = "not-an-id", "0123456789abcdef01234567"

// These are statuses that no service has. A rule for the shape of a status may refuse one and take the other.
const noSuchStatus, frozen = "NO_SUCH_STATUS", "FROZEN"

// statuses asks for documents in PENDING, in a status that they have, and in one that does not exist.
func (r *run) statuses(ctx context.Context) {
	by := func(s string) answer { return r.documents(ctx, params{Status: signforms.DocumentStatus(s), Limit: 1}) }
	unknown := twice(func() answer { return by(noSuchStatus) })
	pending := by("PENDING")
	known, own := pending, r.ownStatuses()
	if (!pending.ok() || len(pending.records) == 0) && len(own) > 0 {
		known = by(own[0])
	}
	works := known.ok() && len(known.records) > 0
	switch {
	case unknown.invalid() && works:
		if second := by(frozen); second.invalid() {
			r.say("unknown status", Holds, "%s, and documents in a known one", unknown.short())
		} else {
			r.say("unknown status", ifThen(second.taken(), Differs, CannotTell), "%s: %s; %s: %s", noSuchStatus, unknown.short(), frozen, second.short())
		}
	case unknown.ok() && len(unknown.records) > 0:
		r.say("unknown status", Differs, "documents are listed")
		first := statusOf(unknown.records[0])
		for _, s := range own {
			if s == first {
				continue
			}
			if other := by(s); other.ok() && len(other.records) > 0 && statusOf(other.records[0]) == s { // not all statuses are ignored
				r.report.Profile.UnknownStatus = signformstest.UnknownStatusIgnored
			}
			break
		}
	case unknown.ok() && works:
		r.say("unknown status", Differs, "the list is empty")
		r.report.Profile.UnknownStatus = signformstest.UnknownStatusEmpty
	case unknown.settled() && works:
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
		for _, rec := range r.everything() {
			if s := statusOf(rec); waits(rec) == open && s != "" && !slices.Contains(own, s) {
				own = append(own, s)
			}
		}
	}
	return own
}

// waits reports whether a document is still to be signed.
func waits(rec record) bool {
	return slices.ContainsFunc(rec.doc.Signers, func(s signforms.Signer) bool {
		return s.Status == signforms.SignerPending || s.Status == signforms.SignerViewed
	})
}

func statusOf(rec record) (s string) {
	unmarshal(rec.raw["status"], &s)
	return s
}

// oddStatus reports whether a status is not known.
func oddStatus(s string) bool {
	return s != "" && !slices.Contains(knownStatuses, s) && !strings.EqualFold(s, "voided")
}

// inProgress finds the literal of the status in progress. It is not PENDING if PENDING is refused like a status that does not exist,
// while documents that wait for their signers are listed by another.
func (r *run) inProgress(pending, unknown answer, works bool, own []string) {
	var odd []string
	for _, s := range own {
		if oddStatus(s) {
			odd = append(odd, s)
		}
	}
	has := slices.ContainsFunc(r.everything(), func(rec record) bool { return statusOf(rec) == "PENDING" && waits(rec) })
	switch refused := pending.invalid() && unknown.invalid() && works; {
	case has:
		r.check("status in progress", len(odd) == 0, "documents that wait for their signers have it; statuses that are not known: %d", len(odd))
	case refused && len(odd) == 1:
		r.say("status in progress", Differs, "documents are %s, and PENDING is refused", foreign(odd[0]))
		r.report.Profile.InProgress = odd[0]
	case refused:
		r.say("status in progress", Differs, "PENDING is refused like a status that does not exist")
	default:
		r.say("status in progress", CannotTell, "no document that waits for its signers has it")
	}
}

// unknownParameter asks with parameters that older clients send and one that nobody has.
func (r *run) unknownParameter(ctx context.Context) {
	p := params{Limit: r.size}                // a sortOrder would hide what they change
	if len(r.first.records) < len(r.sample) { // so would a page that holds all, of counts
		p.Limit = 0
	}
	nobody := "probe" + letters(6)
	with := r.documents(ctx, p, "filter", "nothing", "sortBy", "nothing", nobody, "1")
	for _, a := range r.seen {
		if a.only("limit") && a.in["limit"] == with.in["limit"] && r.sameList(a, with) {
			return
		}
	}
	for range 2 { // what differs is asked once more
		without := r.documents(ctx, p)
		switch {
		case !without.ok() || len(without.records) == 0 || r.sameList(without, with):
			return
		case with.refused():
			if alone := r.documents(ctx, params{}, nobody, "1"); alone.refused() {
				r.say("unknown parameters", Differs, "%s", alone.short())
			} else {
				r.say("unknown parameters", CannotTell, "filter or sortBy is refused, another one is not")
			}
			return
		}
		with = r.documents(ctx, p, "filter", "nothing", "sortBy", "nothing", nobody, "1")
	}
	r.say("unknown parameters", CannotTell, "the list with them is another, or it moves")
}

// sameList notes that unknown parameters are ignored, if a list with them is the same as without.
func (r *run) sameList(without, with answer) bool {
	same := with.ok() && len(with.records) > 0 && slices.Equal(ids(with.records), ids(without.records)) && reflect.DeepEqual(with.counts, without.counts)
	if same {
		r.say("unknown parameters", Holds, "the same list as without them")
	}
	return same
}
