package probe_test

import (
	"cmp"
	"math/rand"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (f *imitation) listing(r *http.Request) (map[string]any, error) {
	q := r.URL.Query()
	if workspace := r.Header.Get("Workspaceid"); workspace != "" && workspace != "ws-1" && f.key != "anyworkspace" {
		return nil, fakeError{403, "not your workspace", "forbidden"}
	}
	for name := range q {
		if f.params == "refused" && !slices.Contains([]string{"documentType", "status", "documentId", "dateFrom", "dateTo", "archive", "sortOrder", "page", "limit", "query"}, name) {
			return nil, fakeError{400, "unknown parameter", "invalid_input"}
		}
	}
	if q.Get("documentType") == "PDF_TEMPLATE" {
		return f.page(nil, q.Get)
	}
	all := make([]int, f.n)
	for i := range all {
		all[i] = i
	}
	keep := func(with func(i int) bool) { all = slices.DeleteFunc(all, func(i int) bool { return !with(i) }) }
	if f.archived != "" || q.Get("archive") != "" {
		keep(func(i int) bool {
			if f.archived == "old hidden" && q.Get("archive") == "" {
				return i%10 != 3 || i > f.n/2
			}
			return (i%10 == 3) == (q.Get("archive") == "true")
		})
	}
	if err := f.byStatus(q.Get("status"), keep); err != nil {
		return nil, err
	}
	if err := f.byID(q.Get(map[bool]string{true: "docId", false: "documentId"}[f.filters == "named"]), keep); err != nil {
		return nil, err
	}
	if err := f.byDate(q.Get("dateFrom"), q.Get("dateTo"), keep); err != nil {
		return nil, err
	}
	if err := f.sort(q.Get("sortOrder"), all); err != nil {
		return nil, err
	}
	if up := q.Get("sortOrder") == "asc"; f.sorts == "window" && up {
		all = all[:min(100, len(all))]
		slices.Reverse(all)
	}
	if f.records > 1 {
		for i := range slices.Clone(all) {
			all = slices.Insert(all, i*f.records, slices.Repeat(all[i*f.records:i*f.records+1], f.records-1)...)
		}
	}
	return f.page(all, q.Get)
}

func (f *imitation) byStatus(s string, keep func(func(int) bool)) error {
	known := []string{cmp.Or(f.status, "PENDING"), "SIGNED", "DRAFT", "VOID"}
	switch {
	case s == "" || f.unknown == "all":
	case slices.Contains(known, s) || f.unknown == "empty":
		keep(func(i int) bool { return f.document(i)["status"] == s })
	case f.unknown == "ignored":
	case f.unknown == "404":
		return fakeError{404, "bad status", "invalid_input"}
	case f.unknown == "422":
		return fakeError{422, "bad status", "invalid_input"}
	default:
		return fakeError{400, "bad status", "invalid_input"}
	}
	return nil
}

func (f *imitation) byID(id string, keep func(func(int) bool)) error {
	if id == "" || f.filters == "ignored" {
		return nil
	}
	if len(id) != len(f.id(0)) && f.ids != "numbers" {
		switch f.badID {
		case "ignored":
			return nil
		case "422":
			return fakeError{422, "bad id", "invalid_input"}
		case "unknown":
		default:
			return fakeError{400, "bad id", "invalid_input"}
		}
	}
	keep(func(i int) bool {
		if f.filters == "prefix" {
			return f.id(i)[0]%4 == id[0]%4
		}
		return f.id(i) == id && (f.filters != "window" || i >= f.n-100) || f.filters != "window" && f.ids != "case" && strings.EqualFold(f.id(i), id)
	})
	return nil
}

func (f *imitation) byDate(from, to string, keep func(func(int) bool)) error {
	unit := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "day": 24 * time.Hour}[f.dates]
	for which, text := range map[string]string{"from": from, "to": to} {
		if text == "" || f.dates == "ignored" || f.dates == "from" && which == "to" {
			continue
		}
		at, err := time.Parse(time.RFC3339, text)
		day := false
		if err != nil {
			at, err = time.Parse(time.DateOnly, text)
			day = err == nil
		}
		if f.dates == "unix" {
			var n int64
			n, err = strconv.ParseInt(text, 10, 64)
			at = time.Unix(n, 0)
		}
		if f.dates == "date" && !day {
			continue // what cannot be read is ignored
		}
		if err != nil || f.dates == "refused" {
			return fakeError{400, "bad date", "invalid_input"}
		}
		if day && which == "to" && f.dates != "start" {
			at = at.Add(24*time.Hour - time.Millisecond)
		}
		if f.dates == "zone" && !day {
			at = at.Add(-2 * time.Hour)
		}
		keep(func(i int) bool {
			c, edge := f.at(i), at
			switch {
			case strings.HasPrefix(f.dates, "micro") && (f.dates != "micro" || i%2 == 0):
				c = c.Add(400 * time.Microsecond)
			case f.dates == "updated":
				c = c.Add(untilUpdated(i))
			}
			if unit > 0 { // both are cut, as a comparison of texts does
				c, edge = c.Truncate(unit), edge.Truncate(unit)
			}
			switch {
			case strings.HasSuffix(f.dates, "exclusive") && c.Equal(edge):
				return false
			case which == "from":
				return !c.Before(edge)
			}
			return !c.After(edge)
		})
	}
	if f.dates == "range" && to == "" && from == "" { // the last two days by default
		keep(func(i int) bool { return f.at(i).After(f.at(f.n - 1).Add(-48 * time.Hour)) })
	}
	return nil
}

func (f *imitation) sort(order string, all []int) error {
	words := []string{"asc", "desc", ""}
	if f.sorts == "ascending" {
		words = []string{"ascending", "descending", ""}
	}
	if f.sorts == "ignored" {
		order = ""
	} else if !slices.Contains(words, order) {
		return fakeError{400, "bad order", "invalid_input"}
	}
	up := strings.HasPrefix(order, "asc") && f.sorts != "page" && f.sorts != "window"
	if f.sorts == "reversed" && order != "" || f.sorts == "oldest" && order == "" {
		up = !up
	}
	slices.SortStableFunc(all, func(a, b int) int {
		c := f.at(a).Compare(f.at(b))
		if c == 0 {
			c = strings.Compare(f.id(a), f.id(b))
		}
		if f.sorts == "name" {
			c = strings.Compare(f.document(a)["documentName"].(string), f.document(b)["documentName"].(string))
		}
		if !up {
			c = -c
		}
		return c
	})
	if f.sorts == "random" {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return nil
}

func (f *imitation) page(all []int, get func(string) string) (map[string]any, error) {
	name := func(usual, other, knob string) string {
		if knob == "named" {
			return get(other)
		}
		return get(usual)
	}
	limit, first := 10, 1
	if text := name("limit", "pageSize", f.limits); text != "" && f.limits != "ignored" {
		limit, _ = strconv.Atoi(text)
		most := map[string]int{"cut": 100, "cut20": 20, "refused": 50, "unbounded": 1 << 20}[f.limits]
		if most == 0 {
			most = 100
		}
		if limit > most && !strings.HasPrefix(f.limits, "cut") {
			return nil, fakeError{400, "limit is too large", "invalid_input"}
		}
		limit = min(limit, most)
	}
	if f.pages == "zero" {
		first = 0
	}
	number := first
	if text := name("page", "pageNumber", f.pages); text != "" && f.pages != "ignored" {
		number, _ = strconv.Atoi(text)
	}
	total := len(all)
	pages := (total + limit - 1) / limit
	begin := min(max(0, number-first)*limit, total)
	switch f.pages {
	case "last": // a page beyond the last is the last
		begin = max(0, min(number, pages)-1) * limit
	case "tens":
		begin = min(max(0, number-1)*10, total)
	case "offset":
		begin = min(max(0, number-1), total)
	case "overlap":
		begin = min(max(0, number-1)*min(limit, 90), total)
	}
	part := slices.Clone(all[begin:min(begin+limit, total)])
	if f.sorts == "page" && get("sortOrder") == "asc" {
		slices.Reverse(part)
	}
	docs := []any{}
	for _, i := range part {
		docs = append(docs, f.document(i))
	}
	body := map[string]any{"message": "ok", "documents": docs, "documentsCount": total, "formCount": 0,
		"pagination": map[string]any{"currentPage": number, "totalPages": pages, "totalDocuments": total}}
	switch f.totals {
	case "page":
		body["documentsCount"], body["pagination"] = len(part), map[string]any{"currentPage": number, "totalPages": 1, "totalDocuments": len(part)}
	case "absent":
		delete(body, "documentsCount")
		delete(body, "pagination")
	case "wrong":
		body["documentsCount"], body["pagination"] = total+500, map[string]any{"currentPage": number, "totalPages": pages + 7, "totalDocuments": total + 500}
	}
	switch f.envelope {
	case "data":
		body = map[string]any{"success": true, "data": body}
	case "results":
		body["results"] = docs
		delete(body, "documents")
	}
	for name, value := range f.extra {
		body[name] = value
	}
	return body, nil
}
