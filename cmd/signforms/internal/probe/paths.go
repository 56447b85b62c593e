package probe

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
)

// This file finds out whether an operation is at its path. An answer shows that only if it is not what the service gives for paths
// that do not exist, which probe asks for with the same method and inputs.

// otherPath asks for a path that does not exist in the way in which a was asked.
func (r *run) otherPath(ctx context.Context, a answer, path string) answer {
	request := signforms.Request{Method: a.Method, Path: path, Query: a.Query}
	if len(a.Sent) > 0 {
		request.Body = bytesJSON(a.Sent)
	}
	return r.ask(ctx, question{do: func(ctx context.Context, c *signforms.Client) (page, error) {
		raw, err := c.Do(ctx, request, nil)
		return page{raw: raw}, err
	}})
}

type bytesJSON []byte

func (b bytesJSON) MarshalJSON() ([]byte, error) { return b, nil }

// otherPaths asks for the paths of strange.
func (r *run) otherPaths(ctx context.Context, a answer) (all []answer) {
	for _, path := range r.strange(a) {
		all = append(all, r.otherPath(ctx, a, path))
	}
	return all
}

// strange returns paths that do not exist: two of random words, and one that begins like the path of a.
func (r *run) strange(a answer) []string {
	path := strings.TrimPrefix(a.path, basePath(r.BaseURL))
	folder := path[:strings.LastIndexByte(path, '/')+1]
	verb, _, _ := strings.Cut(path[len(folder):], "-")
	return []string{escaped(folder + letters(12)), escaped(folder + letters(7) + "/" + letters(9)), escaped(folder + verb + "-" + letters(12))}
}

func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

func basePath(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Path, "/")
}

var (
	anyText  = regexp.MustCompile(`[\pL\d_.:+-]*\d[\pL\d_.:+-]*`) // ids, times, sizes
	anySpace = regexp.MustCompile(`\s+`)
)

// print returns what an answer would be to any path, id and time. Two answers with one print cannot be told apart.
func (a answer) print() string {
	text := string(a.Body)
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	text = strings.ReplaceAll(text, `\/`, "/")
	echoes := []string{a.path, a.path[strings.LastIndexByte(a.path, '/')+1:], strings.TrimPrefix(a.path, "/"), a.id}
	for _, values := range a.Query {
		echoes = append(echoes, values...)
	}
	slices.SortFunc(echoes, func(x, y string) int { return len(y) - len(x) })
	text = strings.ToLower(text)
	for _, echo := range echoes {
		if len(echo) > 2 {
			text = strings.ReplaceAll(text, strings.ToLower(echo), "#")
		}
	}
	return fmt.Sprint(a.Status, " ", anySpace.ReplaceAllString(anyText.ReplaceAllString(text, "#"), " "))
}

// unlike reports whether an answer is another than those to paths that do not exist. The first two must be alike: else answers differ
// by themselves.
func unlike(a answer, others []answer) bool {
	for i, c := range others {
		if c.Status == 0 || c.print() == a.print() || i == 1 && c.print() != others[0].print() {
			return false
		}
	}
	return len(others) > 0
}

// noRoute is the message of AWS API Gateway for a path that it does not have.
const noRoute = "Missing Authentication Token"

// listed asks for the list of documents, and reports whether there is one that the SDK can read.
func (r *run) listed(ctx context.Context) bool {
	r.first = r.documents(ctx, signforms.DocumentListParams{})
	for _, rec := range r.first.records {
		if rec.id != "" {
			r.say("list documents", Holds, "%s, read by the SDK", r.first.short())
			return true
		}
	}
	switch n := len(r.first.records); {
	case n > 0:
		r.say("list documents", CannotTell, "no record of %d has a documentId that the SDK reads", n)
	case r.first.ok():
		r.say("list documents", CannotTell, "%s without a document that would show it", r.first.short())
	default:
		r.notListed(ctx)
	}
	return r.first.ok()
}

// notListed says why there is no list of documents.
func (r *run) notListed(ctx context.Context) {
	a := r.first
	if r.absent("list documents", a) {
		return
	}
	others := r.otherPaths(ctx, a)
	alike := r.stop == nil && !unlike(a, others)
	html := strings.Contains(a.Header.Get("Content-Type"), "html") || bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
	forbidden := a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden
	switch {
	case r.stop != nil:
	case html && a.Status != http.StatusNotFound && a.Status != http.StatusMethodNotAllowed && (alike || forbidden || a.Status == http.StatusTooManyRequests):
		r.stop = fmt.Errorf("%w (%s, HTML)", ErrFront, a.short())
	case forbidden:
		r.stop = fmt.Errorf("the service refuses the API key or the workspace (%d)", a.Status)
	case alike:
		r.say("list documents", CannotTell, "%s, as for paths that do not exist", a.short())
	case a.Status == http.StatusMethodNotAllowed:
		r.say("list documents", Differs, "%s", a.short())
	case a.Status/100 == 3:
		r.say("list documents", Differs, "it is redirected")
		r.say("redirects", Differs, "%s", a.short())
	default:
		r.say("list documents", CannotTell, "%s", a.short())
	}
}

// absent notes that a gateway says that it has no such route.
func (r *run) absent(id string, a answer) bool {
	var message string
	if a.Status != http.StatusForbidden || !unmarshal(object(a.Body)["message"], &message) || message != noRoute {
		return false
	}
	r.say(id, Differs, "the gateway has no such route")
	return true
}

// presence asks whether a list is at its path. unknown is the answer to an id that no record has, as the value of
// input. by asks the same with other inputs.
func (r *run) presence(ctx context.Context, id, list, input string, unknown answer, by func(set ...string) answer) bool {
	if r.absent(id, unknown) || r.stop != nil {
		return false
	}
	if len(unknown.records) > 0 && unknown.records[0].id != "" {
		r.say(id, Differs, "an unknown id gives %d records", len(unknown.records))
		return true
	}
	others := r.otherPaths(ctx, unknown)
	apart := unlike(unknown, others)
	switch {
	case unknown.ok() && apart && object(unknown.raw)[list] != nil:
		none := by(input, "", "other", unknown.in[input])
		r.say(id, ifThen(none.refused(), Holds, CannotTell), "an unknown id: %s, read by the SDK; under another name: %s", unknown.short(), none.short())
		return true
	case unknown.Status == http.StatusMethodNotAllowed && apart:
		r.say(id, Differs, "%s", unknown.short())
	case unknown.Status/100 == 3 && apart:
		r.say(id, Differs, "it is redirected")
	case !unknown.missing() || r.stop != nil:
		r.say(id, CannotTell, "%s", unknown.short())
	default:
		return r.presentBut404(ctx, id, input, unknown, by, others)
	}
	return false
}

// presentBut404 judges a list that answers an unknown id with 404. It is there if the answer depends on the id. The id gets another
// name, as some routers refuse a request without inputs whatever its path.
func (r *run) presentBut404(ctx context.Context, id, input string, unknown answer, by func(set ...string) answer, others []answer) bool {
	value := unknown.in[input]
	bare, how := by(input, "", "other", value), "under another name"
	other := func(a answer) bool { return a.refused() && a.print() != unknown.print() }
	second := bare
	if other(bare) {
		second = by(input, randomID(), "other", value)
	}
	if other(second) { // unknown inputs are refused, perhaps before the path counts, or answers differ by themselves
		bare, how = by(input, notAnID), "malformed"
		second = by(input, randomID())
	}
	dependent := other(bare) && unlike(bare, others) && second.print() == unknown.print()
	switch {
	case bytes.Contains(unknown.Body, []byte(path.Base(unknown.path))):
		r.say(id, CannotTell, "%s, with an error that names the path", unknown.short())
		return false
	case dependent && unlike(unknown, others):
		r.say(id, Holds, "an unknown id: %s; %s: %s; other paths answer otherwise", unknown.short(), how, bare.short())
	case dependent && bare.invalid() && unlike(bare, []answer{r.otherPath(ctx, bare, r.strange(bare)[2])}):
		r.say(id, Holds, "an unknown id is answered like other paths; %s, it is not: %s", how, bare.short())
	default:
		r.say(id, CannotTell, "%s, which is not told apart from a path that does not exist", unknown.short())
		return false
	}
	return true
}
