package probe_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
	"github.com/signforms/signforms-go/signformstest"
)

// notAlways are services in which one answer among the others contradicts a fact: a list with another filter, page or type.
var notAlways = []another{
	{"no pagination beside a filter", edited(func(_ *imitation, q url.Values, body map[string]any) {
		if q.Has("status") || q.Has("dateFrom") {
			delete(body, "pagination")
		}
	}), []string{"pagination"}, nil},
	{"no pagination for templates", ofType("PDF_TEMPLATE", func(body map[string]any) { delete(body, "pagination") }), []string{"pagination"}, nil},
	{"null for an unknown id alone", edited(func(_ *imitation, q url.Values, body map[string]any) {
		if q.Has("documentId") && len(body["documents"].([]any)) == 0 {
			body["documents"] = nil
		}
	}), []string{"empty list"}, nil},
	{"archived are hidden without a limit", hiding(func(q url.Values) bool { return !q.Has("limit") }), []string{"archive"}, []string{"page size"}},
	{"archived are hidden in their order", hiding(func(q url.Values) bool { return q.Has("sortOrder") }), []string{"archive"}, []string{"sort orders", "pages", "documents count", "totals", "unknown parameters"}},
	{"archived are hidden from a date on", func(f *imitation) {
		asking(func(q url.Values) { f.archived = map[bool]string{true: "hidden"}[q.Has("dateFrom") || q.Has("dateTo")] })(f)
	}, []string{"archive"}, theDates[2:]},
	{"archived are not found by their ids", hiding(func(q url.Values) bool { return q.Has("documentId") }), []string{"id filter"}, nil},
	{"limit ignored beside a status", asking(func(q url.Values) {
		if q.Has("status") {
			q.Del("limit")
		}
	}), []string{"limit one"}, nil},
	{"templates created in seconds", templates(func(d fakeDocument) { d["createdAt"] = 1789000000 }), []string{"created format"}, nil},
	{"signers of templates have another status", templates(func(d fakeDocument) {
		d["templateRespondents"].([]any)[0].(map[string]any)["signers"] = []any{map[string]any{"status": "BOUNCED"}}
	}), []string{"signer statuses"}, nil},
	{"templates spell otherwise", templates(func(d fakeDocument) { delete(d, "totalRespondants") }), []string{"template fields"}, nil},
	{"templates without their respondents", func(f *imitation) {
		templates(func(fakeDocument) {})(f)
		f.respondents = func(q url.Values) map[string]any { return map[string]any{"respondents": []any{}} }
	}, []string{"list respondents"}, []string{"unknown template"}},
	{"a signed respondent as an object", func(f *imitation) {
		templates(func(fakeDocument) {})(f)
		f.respondents = func(q url.Values) map[string]any {
			one := map[string]any{"respondentDocumentId": q.Get("respondentDocumentId"), "status": "PENDING"}
			switch q.Get("respondentDocumentId") {
			case signedID:
				return map[string]any{"respondents": one}
			case "":
				return nil
			}
			return map[string]any{"respondents": []any{one}}
		}
	}, []string{"one respondent"}, []string{"list respondents"}},
	{"another version for page 2", edited(func(_ *imitation, q url.Values, body map[string]any) {
		for _, d := range body["documents"].([]any) {
			if d := d.(fakeDocument); number(q, "page", 1) == 2 {
				d["name"] = d["documentName"]
				delete(d, "documentName")
			}
		}
	}), []string{"spellings"}, nil},
	{"odd documents in the middle of 300", middle(func(d fakeDocument) {
		d["createdAt"] = d["createdAt"].(string)[:19] + "Z"
		d["tenant"] = "Smith Ltd"
		d["status"] = "AWAITING"
		delete(d, "authorEmail")
		d["signers"].([]any)[0].(map[string]any)["status"] = "BOUNCED"
	}), []string{"created format", "status in progress", "document fields", "signer statuses"}, []string{"dateFrom included", "dateTo included"}},
	{"large pages newest first, others not", asking(func(q url.Values) {
		if !q.Has("sortOrder") && number(q, "limit", 10) < 50 {
			q.Set("sortOrder", "asc")
		}
	}), []string{"default order"}, nil},
	{"the second page of 300 the other way round", turned("", "2"), []string{"default order"}, nil},
	{"the second page of asc the other way round", turned("asc", "2"), []string{"sort orders"}, []string{"pages"}},
	{"archived documents in another status", edited(func(_ *imitation, q url.Values, body map[string]any) {
		for _, d := range body["documents"].([]any) {
			if q.Get("archive") == "true" {
				d.(fakeDocument)["status"] = "AWAITING"
			}
		}
	}), []string{"status in progress"}, nil},
	{"an account that grows from 8", func(f *imitation) {
		f.n, f.ask = 8, func(*http.Request) { f.n++ }
	}, nil, nil},
	{"replicas of other page sizes", func(f *imitation) {
		asking(func(q url.Values) {
			if !q.Has("limit") && f.count%2 == 0 {
				q.Set("limit", "25")
			}
		})(f)
	}, []string{"page size"}, nil},
	{"a range that ignores dateTo in order", asking(func(q url.Values) {
		if q.Has("sortOrder") {
			q.Del("dateTo")
			q.Del("dateFrom")
		}
	}), theDates, nil},
	{"templates are redirected", redirecting(func(r *http.Request) bool { return r.URL.Query().Get("documentType") == "PDF_TEMPLATE" }), []string{"redirects"}, nil},
	{"responses are redirected", redirecting(func(r *http.Request) bool { return r.URL.Path == "/get-form-responses" }), []string{"redirects", "list responses"}, aboutResponses[1:3]},
	{"errors of limits have another layout", func(f *imitation) {
		f.ask = func(r *http.Request) {
			if f.errors = ""; r.URL.Query().Get("limit") == "101" {
				f.errors = "boom"
			}
		}
	}, []string{"error layout"}, []string{"error codes"}},
	{"statuses refused by their shape", func(f *imitation) {
		f.ask = func(r *http.Request) {
			f.unknown = map[bool]string{true: "empty"}[len(r.URL.Query().Get("status")) < 12]
		}
	}, []string{"unknown status"}, nil},
	{"ids refused by their characters", func(f *imitation) {
		f.ask = func(r *http.Request) {
			f.badID = map[bool]string{true: "unknown"}[len(r.URL.Query().Get("documentId")) == 24]
		}
	}, []string{"malformed id"}, nil},
	{"page is ignored without sortOrder", asking(func(q url.Values) {
		if !q.Has("sortOrder") {
			q.Del("page")
		}
	}), []string{"pages"}, []string{"totals"}},
	{"page is ignored without sortOrder, of 130", func(f *imitation) {
		f.n = 130
		asking(func(q url.Values) {
			if !q.Has("sortOrder") {
				q.Del("page")
			}
		})(f)
	}, []string{"pages"}, []string{"totals"}},
	{"limit=100 gives 50 in asc", asking(func(q url.Values) {
		if q.Get("sortOrder") == "asc" && q.Get("limit") == "100" {
			q.Set("limit", "50")
		}
	}), []string{"largest limit"}, nil},
	{"counts two more without sortOrder", edited(func(_ *imitation, q url.Values, body map[string]any) {
		if p, _ := body["pagination"].(map[string]any); p != nil && !q.Has("sortOrder") {
			p["totalDocuments"] = p["totalDocuments"].(int) + 2
			body["documentsCount"] = body["documentsCount"].(int) + 2
		}
	}), []string{"totals", "documents count"}, nil},
	{"counts nothing beyond the last page", edited(func(_ *imitation, q url.Values, body map[string]any) {
		if p, _ := body["pagination"].(map[string]any); p != nil && q.Has("page") && len(body["documents"].([]any)) == 0 {
			body["documentsCount"], p["totalPages"], p["totalDocuments"] = 0, 0, 0
		}
	}), []string{"documents count", "totals"}, nil},
	{"limit=1 gives the oldest", asking(func(q url.Values) {
		if q.Get("limit") == "1" && !q.Has("sortOrder") {
			q.Set("sortOrder", "asc")
		}
	}), []string{"default order"}, nil},
	{"a status lists the oldest first", asking(func(q url.Values) {
		if q.Has("status") && !q.Has("sortOrder") {
			q.Set("sortOrder", "asc")
		}
	}), []string{"default order"}, nil},
	{"no list beyond the last page", func(f *imitation) {
		f.gate = func(r *http.Request) error {
			if number(r.URL.Query(), "page", 1) > 64 {
				return fakeError{404, "no such page", "not_found"}
			}
			return nil
		}
	}, []string{"empty list"}, nil},
	{"an unknown parameter turns the list", asking(func(q url.Values) {
		if q.Has("sortBy") && !q.Has("sortOrder") {
			q.Set("sortOrder", "asc")
		}
	}), []string{"unknown parameters"}, nil},
	{"an unknown parameter empties the count", edited(func(_ *imitation, q url.Values, body map[string]any) {
		if q.Has("filter") {
			body["documentsCount"] = 0
		}
	}), []string{"unknown parameters"}, nil},
	{"times are refused beside sortOrder", func(f *imitation) {
		f.gate = func(r *http.Request) error {
			if q := r.URL.Query(); q.Has("sortOrder") && strings.Contains(q.Get("dateFrom")+q.Get("dateTo"), "T") {
				return fakeError{400, "no times in order", "invalid_input"}
			}
			return nil
		}
	}, []string{"times"}, theDates[2:]},
	{"totalPages without the last page", edited(func(_ *imitation, q url.Values, body map[string]any) {
		if p, _ := body["pagination"].(map[string]any); p != nil && !q.Has("sortOrder") && q.Get("limit") == "1" {
			p["totalPages"] = p["totalPages"].(int) - 1
		}
	}), []string{"totals"}, nil},
	{"PENDING waits for payment", documents(func(_ int, d fakeDocument) {
		for _, s := range d["signers"].([]any) {
			s.(map[string]any)["status"] = "SIGNED"
		}
	}), []string{"status in progress"}, nil},
	{"responses of any form", func(f *imitation) { f.noSuch = "all" }, []string{"list responses", "unknown form", "list respondents", "unknown template"}, nil},
	{"respondents of any template", func(f *imitation) {
		templates(func(fakeDocument) {})(f)
		f.respondents = func(q url.Values) map[string]any {
			if !q.Has("templateId") {
				return nil
			}
			return map[string]any{"respondents": []any{map[string]any{"respondentDocumentId": signedID, "status": "SIGNED"}}}
		}
	}, []string{"list respondents", "unknown template"}, nil},
	{"respondents of another template", func(f *imitation) {
		templates(func(fakeDocument) {})(f)
		f.respondents = func(q url.Values) map[string]any {
			if !strings.HasPrefix(q.Get("templateId"), "3f0f8a52") {
				return nil
			}
			return map[string]any{"respondents": []any{map[string]any{"respondentDocumentId": signedID, "status": "SIGNED", "templateId": "another"}}}
		}
	}, []string{"list respondents"}, nil},
	{"the only respondent for any id", func(f *imitation) {
		templates(func(d fakeDocument) { d["templateRespondents"] = d["templateRespondents"].([]any)[:1] })(f)
		f.respondents = func(q url.Values) map[string]any {
			return map[string]any{"respondents": []any{map[string]any{"respondentDocumentId": signedID, "status": "SIGNED"}}}
		}
	}, []string{"one respondent", "list respondents", "unknown template"}, nil},
	{"a firewall before the wrong key", func(f *imitation) {
		f.key = "401"
		f.gate = func(*http.Request) error {
			if f.blocked > 0 && f.count >= f.blocked {
				return fakeError{403, "blocked", ""}
			}
			return nil
		}
		f.ask = func(r *http.Request) {
			if r.Header.Get("X-Api-Key") != fakeKey {
				f.blocked = f.count
				r.Header.Set("X-Api-Key", fakeKey) // the firewall comes first
			}
		}
	}, []string{"key status"}, []string{"error codes", "error layout"}},
}

const signedID, openID = "aaaabbbbccccddddeeeeffff", "bbbbaaaaccccddddeeeeffff"

func ofType(kind string, edit func(body map[string]any)) func(*imitation) {
	return edited(func(_ *imitation, q url.Values, body map[string]any) {
		if q.Get("documentType") == kind {
			edit(body)
		}
	})
}

// templates adds a template with two documents made from it.
func templates(edit func(fakeDocument)) func(*imitation) {
	return func(f *imitation) {
		ofType("PDF_TEMPLATE", func(body map[string]any) {
			d := f.document(0)
			d["documentId"], d["signingType"] = "3f0f8a52-2b2c-4c8e-9a61-0d8c7c1f2e11", "PDF_TEMPLATE"
			d["roles"], d["totalRespondants"], d["totalSignedRespondants"] = []any{map[string]any{"roleTitle": "Buyer", "roleColour": ""}}, 2, 1
			d["templateRespondents"] = []any{map[string]any{"respondentDocumentId": signedID, "status": "SIGNED"}, map[string]any{"respondentDocumentId": openID, "status": "PENDING"}}
			edit(d)
			body["documents"] = []any{d}
		})(f)
	}
}

// hiding leaves archived documents out of some lists.
func hiding(where func(url.Values) bool) func(*imitation) {
	return edited(func(_ *imitation, q url.Values, body map[string]any) {
		if where(q) && !q.Has("archive") {
			body["documents"] = slices.DeleteFunc(body["documents"].([]any), func(d any) bool { return d.(fakeDocument)["isArchived"] == true })
		}
	})
}

// middle changes documents that are on neither the first nor the last hundred of 300.
func middle(edit func(fakeDocument)) func(*imitation) {
	return func(f *imitation) {
		f.n = 300
		edited(func(_ *imitation, _ url.Values, body map[string]any) {
			for _, d := range body["documents"].([]any) {
				for i := 148; i < 152; i++ {
					if d := d.(fakeDocument); d["documentId"] == f.id(i) {
						edit(d)
					}
				}
			}
		})(f)
	}
}

// turned turns one page of 300 documents round.
func turned(order, page string) func(*imitation) {
	return func(f *imitation) {
		f.n = 300
		edited(func(_ *imitation, q url.Values, body map[string]any) {
			if q.Get("sortOrder") == order && q.Get("page") == page && q.Get("limit") == "100" {
				slices.Reverse(body["documents"].([]any))
			}
		})(f)
	}
}

func redirecting(where func(*http.Request) bool) func(*imitation) {
	return func(f *imitation) {
		f.gate = func(r *http.Request) error {
			if where(r) {
				return fakeError{307, "elsewhere", ""}
			}
			return nil
		}
	}
}

// No literal is printed that one of the answers contradicts.
func TestLiteralsThatAnAnswerContradicts(t *testing.T) {
	for name, is := range map[string]func(*imitation){
		"archive=true lists all": func(f *imitation) {
			asking(func(q url.Values) {
				if f.archived = "hidden"; q.Get("archive") == "true" {
					f.archived = ""
					q.Del("archive")
				}
			})(f)
		},
		"pages count from 0 beside sortOrder": asking(func(q url.Values) {
			if q.Has("sortOrder") && q.Has("page") {
				q.Set("page", strconv.Itoa(number(q, "page", 0)+1))
			}
		}),
		"all statuses are ignored": func(f *imitation) { f.unknown = "all" },
		"null for an unknown id, no key else": edited(func(_ *imitation, q url.Values, body map[string]any) {
			if len(body["documents"].([]any)) > 0 {
				return
			}
			if body["documents"] = nil; !q.Has("documentId") {
				delete(body, "documents")
			}
		}),
		"replicas of other page sizes": func(f *imitation) {
			asking(func(q url.Values) {
				if !q.Has("limit") {
					q.Set("limit", []string{"15", "25"}[f.count%2])
				}
			})(f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &imitation{n: 64}
			is(f)
			rep, err := probed(t, f, false)
			require.NoError(t, err)
			require.Contains(t, factsWith(rep, probe.Holds), "list documents", show(rep))
			require.Equal(t, signformstest.Profile{}, rep.Profile)
			require.Empty(t, rep.Endpoints)
		})
	}
}
