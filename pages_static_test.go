package signforms_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/signformstest"
)

// total is a pagination literal with everything that the interface names.
func total(n int, r listRequest) string {
	return fmt.Sprintf(`{"currentPage":%d,"totalPages":%d,"totalDocuments":%d}`, r.page, (n+r.limit-1)/r.limit, n)
}

// TestAll_listsCutShort do not change. All yields every record, or ends with ErrIncomplete after all that it found.
func TestAll_listsCutShort(t *testing.T) {
	for _, c := range []struct {
		name                string
		answer              func(n int, r listRequest) string
		total, want, report int
		most                int // requests
	}{
		{name: "page ignored", answer: func(_ int, r listRequest) string { return pageJSON(upTo(r.limit), total(250, r)) }, total: 250, want: 100, report: 250, most: 30},
		{name: "page ignored, nothing reported", answer: func(_ int, r listRequest) string { return pageJSON(upTo(r.limit), "") }, total: 250, want: 100, report: 0, most: 30},
		{name: "page ignored, nothing reported, few there", answer: func(_ int, r listRequest) string { return pageJSON(upTo(min(7, r.limit)), "") }, total: 7, want: 7, report: 0, most: 30},
		{name: "page ignored, and no more there", answer: func(_ int, r listRequest) string { return pageJSON(upTo(min(100, r.limit)), total(100, r)) }, total: 100, want: 100, report: 100, most: 12},
		{name: "page and limit ignored", answer: func(_ int, r listRequest) string { return pageJSON(upTo(100), total(250, r)) }, total: 250, want: 100, report: 250, most: 12},
		{name: "page ignored, totalPages", answer: func(_ int, r listRequest) string {
			return pageJSON(upTo(100), fmt.Sprintf(`{"currentPage":%d,"totalPages":3}`, r.page))
		}, total: 250, want: 100, report: 201, most: 12},
		{name: "page ignored, hasNextPage", answer: func(int, listRequest) string { return pageJSON(upTo(100), `{"hasNextPage":true}`) }, total: 250, want: 100, report: 0, most: 12},
		{name: "pages from 0, one page", answer: func(_ int, r listRequest) string { return pageJSON(window(upTo(7), r.page+1, r.limit), total(7, r)) }, total: 7, want: 0, report: 7, most: 30},
		{name: "pages from 0", answer: func(_ int, r listRequest) string {
			return pageJSON(window(upTo(130), r.page+1, r.limit), total(130, r))
		}, total: 130, want: 100, report: 130, most: 45},
		{name: "an empty page more", answer: func(_ int, r listRequest) string {
			page := r.page
			if page > 3 {
				page--
			} else if page == 3 {
				page = 100
			}
			return pageJSON(window(upTo(350), page, 100), total(350, listRequest{page: r.page, limit: 100}))
		}, total: 350, want: 350, report: 350, most: 12},
		{name: "an empty page instead", answer: func(_ int, r listRequest) string {
			if r.page == 3 {
				return pageJSON(nil, total(350, r))
			}
			return pageJSON(window(upTo(350), r.page, r.limit), total(350, r))
		}, total: 350, want: 250, report: 350, most: 60},
		{name: "an empty answer once", answer: func(n int, r listRequest) string {
			if n == 2 {
				return pageJSON(nil, total(350, r))
			}
			return pageJSON(window(upTo(350), r.page, r.limit), total(350, r))
		}, total: 350, want: 350, report: 350, most: 8},
		{name: "in another order each time", answer: func(n int, r listRequest) string {
			ids := upTo(250)
			rand.New(rand.NewPCG(uint64(n), 1)).Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			return pageJSONAt(window(ids, r.page, r.limit), total(250, r), func(int) int { return 0 })
		}, total: 250, want: 250, report: 250, most: 100},
		{name: "capped at 50, documentsCount", answer: func(_ int, r listRequest) string {
			return fmt.Sprintf(`{"documentsCount":430,%s`, pageJSON(window(upTo(430), r.page, min(r.limit, 50)), "")[1:])
		}, total: 430, want: 430, report: 430, most: 11},
		{name: "capped at 50", answer: func(_ int, r listRequest) string {
			r.limit = min(r.limit, 50)
			return pageJSON(window(upTo(430), r.page, r.limit), total(430, r))
		}, total: 430, want: 430, report: 430, most: 11},
		{name: "always 50", answer: func(_ int, r listRequest) string {
			r.limit = 50
			return pageJSON(window(upTo(430), r.page, r.limit), total(430, r))
		}, total: 430, want: 430, report: 430, most: 11},
		{name: "always 50, nothing reported", answer: func(_ int, r listRequest) string { return pageJSON(window(upTo(430), r.page, 50), "") }, total: 430, want: 430, report: 0, most: 22},
		{name: "always 100, last page short", answer: func(_ int, r listRequest) string {
			r.limit = 100
			return pageJSONAt(window(upTo(150), r.page, r.limit), total(150, r), func(int) int { return 0 })
		}, total: 150, want: 150, report: 150, most: 15},
		{name: "the total counts the page, hasNextPage", answer: func(_ int, r listRequest) string {
			ids := window(upTo(250), r.page, r.limit)
			return pageJSON(ids, fmt.Sprintf(`{"totalDocuments":%d,"hasNextPage":%t}`, len(ids), r.page*r.limit < 250))
		}, total: 250, want: 250, report: 250, most: 6},
		{name: "total and totalPages count the page", answer: func(_ int, r listRequest) string {
			ids := window(upTo(250), r.page, r.limit)
			return pageJSON(ids, fmt.Sprintf(`{"totalDocuments":%d,"totalPages":1}`, len(ids)))
		}, total: 250, want: 250, report: 250, most: 5},
		{name: "the total counts no further than 100", answer: func(_ int, r listRequest) string {
			return pageJSON(window(upTo(250), r.page, r.limit), `{"totalDocuments":100,"totalPages":1,"hasNextPage":false}`)
		}, total: 250, want: 250, report: 250, most: 5},
		{name: "always 120, and the total counts the page", answer: func(_ int, r listRequest) string {
			ids := window(upTo(250), r.page, 120)
			return pageJSON(ids, fmt.Sprintf(`{"totalDocuments":%d,"totalPages":1}`, len(ids)))
		}, total: 250, want: 250, report: 250, most: 12},
		{name: "always 100 and no more", answer: func(_ int, r listRequest) string {
			r.limit = 100
			return pageJSON(window(upTo(100), r.page, r.limit), total(100, r))
		}, total: 100, want: 100, report: 100, most: 15},
		{name: "the total counts no further than 1,000", answer: func(_ int, r listRequest) string {
			return pageJSON(window(upTo(1500), r.page, r.limit), total(1000, r))
		}, total: 1500, want: 1500, report: 1500, most: 34},
		{name: "page ignored, totalPages 2", answer: func(_ int, r listRequest) string {
			return pageJSON(upTo(r.limit), fmt.Sprintf(`{"totalPages":%d}`, (150+r.limit-1)/r.limit))
		}, total: 150, want: 100, report: 0, most: 30},
		{name: "page ignored, hasNextPage on the first", answer: func(_ int, r listRequest) string {
			return pageJSON(upTo(100), fmt.Sprintf(`{"hasNextPage":%t}`, r.page == 1))
		}, total: 160, want: 100, report: 0, most: 12},
		{name: "a stale total and totalPages, hasNextPage", answer: func(_ int, r listRequest) string {
			return pageJSON(window(upTo(1500), r.page, r.limit), fmt.Sprintf(`{"totalDocuments":1200,"totalPages":%d,"hasNextPage":%t}`,
				(1200+r.limit-1)/r.limit, r.page*r.limit < 1500))
		}, total: 1500, want: 1500, report: 1500, most: 40},
		{name: "nothing set in pagination", answer: func(_ int, r listRequest) string {
			return pageJSON(window(upTo(250), r.page, r.limit), `{"totalPages":0,"totalDocuments":0,"hasNextPage":false}`)
		}, total: 250, want: 250, report: 250, most: 7},
		{name: "the total counts more", answer: func(_ int, r listRequest) string { return pageJSON(window(upTo(250), r.page, r.limit), total(300, r)) }, total: 250, want: 250, report: 300, most: 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &listService{answer: c.answer}
			ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
			t.Logf("%-30s %d of %d in %d requests: %v", c.name, len(ids), c.total, len(s.requests), err)
			require.Len(t, ids, c.want)
			if c.want == max(c.total, c.report) {
				require.NoError(t, err)
			} else {
				clienttest.RequireMatches(t, err, signforms.ErrIncomplete)
				require.Equal(t, c.want, clienttest.AsError(t, err).Yielded)
				if c.report > 0 {
					require.Equal(t, c.report, clienttest.AsError(t, err).Reported)
				}
			}
			require.LessOrEqual(t, len(s.requests), c.most)
		})
	}
}

// TestAll_moveHiddenByTheTotal: long lists that are read without overlap change before their sixth answer, and the total hides it at first.
func TestAll_moveHiddenByTheTotal(t *testing.T) {
	for _, c := range []struct {
		name   string
		oldest bool
		move   func(ids []int) []int
		late   bool // the sixth answer has the records of after and the total of before
	}{
		{name: "one leaves page 1, one enters at the end", move: func(ids []int) []int { return append(ids[1:], 5000) }},
		{name: "oldest first: one leaves page 3, one is created", oldest: true, move: func(ids []int) []int { return append(slices.Delete(ids, 250, 251), 0) }},
		{name: "one leaves page 3, and the total follows next time", late: true, move: func(ids []int) []int { return slices.Delete(ids, 250, 251) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			ids := upTo(2001)[1:]
			if c.oldest {
				slices.Reverse(ids)
			}
			was := slices.Clone(ids)
			s := &listService{answer: func(n int, r listRequest) string {
				count := len(ids)
				if n == 5 {
					ids = c.move(ids)
				}
				if !c.late || n != 5 {
					count = len(ids)
				}
				return pageJSON(window(ids, r.page, r.limit), total(count, r))
			}}
			got, err := collect(t, s.client(t), signforms.DocumentListParams{})
			require.NoError(t, err)
			require.Subset(t, got, wantIDs(was))
		})
	}
}

// TestAll_refusedPageAfterTheLast: a page past the last is refused. Where the total ends the list there, this means the same as an
// empty page.
func TestAll_refusedPageAfterTheLast(t *testing.T) {
	rt := clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		page, _ := strconv.Atoi(req.URL.Query().Get("page"))
		limit, _ := strconv.Atoi(req.URL.Query().Get("limit"))
		if (page-1)*limit >= 1000 {
			return clienttest.Reply(req, 404, `{"message":"no such page"}`), nil
		}
		return clienttest.Reply(req, 200, pageJSON(window(upTo(1000), page, limit), total(1000, listRequest{page: page, limit: limit}))), nil
	})
	got, err := collect(t, clienttest.Scripted(t, rt), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Equal(t, wantIDs(upTo(1000)), got)
}

// TestAll_requestsForUnchangedLists: a list that does not move costs hardly more requests than it has pages.
func TestAll_requestsForUnchangedLists(t *testing.T) {
	for _, c := range []struct {
		report, order string
		more          int // requests than pages, up to 1,000 records
	}{
		{report: "total", order: "newest first", more: 1},
		{report: "total", order: "oldest first", more: 1},
		{report: "total", order: "one time", more: 1},
		{report: "totalPages", order: "newest first", more: 1},
		{report: "totalPages", order: "one time", more: 1},
		{report: "nothing", order: "newest first", more: 2},
		{report: "nothing", order: "oldest first", more: 2},
		{report: "nothing", order: "one time", more: 2},
	} {
		t.Run(c.report, func(t *testing.T) {
			for _, n := range []int{30, 100, 130, 200, 250, 300, 500, 1000, 2000, clienttest.Long(10_000, 3000)} {
				t.Run(fmt.Sprint(n), func(t *testing.T) {
					ids := upTo(n)
					minute := func(n int) int { return -n }
					switch c.order {
					case "oldest first":
						slices.Reverse(ids)
					case "one time":
						minute = func(int) int { return 0 }
					}
					s := &listService{answer: func(_ int, r listRequest) string {
						pagination := map[string]string{
							"total":      total(n, r),
							"totalPages": fmt.Sprintf(`{"currentPage":%d,"totalPages":%d}`, r.page, (n+r.limit-1)/r.limit),
						}[c.report]
						return pageJSONAt(window(ids, r.page, r.limit), pagination, minute)
					}}
					got, err := collect(t, s.client(t), signforms.DocumentListParams{})
					require.NoError(t, err)
					require.Equal(t, wantIDs(ids), got)
					pages := (n + 99) / 100
					most := pages + c.more
					if n >= 1000 {
						most = pages*12/10 + 2
					}
					if n < 100 && c.report == "total" {
						most = 1
					}
					require.LessOrEqual(t, len(s.requests), most, "%s reported, %s: %d records", c.report, c.order, n)
				})
			}
		})
	}
}

// TestAll_ignoreTotals are not read where an endpoint says so.
func TestAll_ignoreTotals(t *testing.T) {
	s := &listService{answer: func(_ int, r listRequest) string {
		return fmt.Sprintf(`{"documentsCount":300,%s`, pageJSON(window(upTo(250), r.page, r.limit), total(900, r))[1:])
	}}
	c := clienttest.Scripted(t, s, func(o *signforms.Options) {
		o.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpListDocuments: {IgnoreTotals: true}}
	})
	ids, err := collect(t, c, signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Equal(t, wantIDs(upTo(250)), ids)
	require.Equal(t, []int{1, 2, 3, 4}, s.pages())
	page, err := c.Documents.List(t.Context(), signforms.DocumentListParams{Page: 1, Limit: 10})
	require.NoError(t, err)
	require.Nil(t, page.Total)

	_, err = signforms.New("https://api.example.com", "key", &signforms.Options{
		Endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpSend: {IgnoreTotals: true}}})
	require.ErrorContains(t, err, "IgnoreTotals is for lists only")
}

// TestAll_refusedLimits other than the first, as those do that know a few: pages follow each other then.
func TestAll_refusedLimits(t *testing.T) {
	for _, report := range []bool{true, false} {
		t.Run(fmt.Sprint(report), func(t *testing.T) {
			s := &listService{refuse: func(r listRequest) bool { return r.limit != 100 }}
			s.answer = func(_ int, r listRequest) string {
				pagination := ""
				if report {
					pagination = total(250, r)
				}
				return pageJSON(window(upTo(250), r.page, r.limit), pagination)
			}
			ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
			require.NoError(t, err)
			require.Equal(t, wantIDs(upTo(250)), ids)
			require.LessOrEqual(t, len(s.requests), 10)
		})
	}
}

// TestAll_equalIDs: UUIDs in any case, all else by its bytes.
func TestAll_equalIDs(t *testing.T) {
	const id = "0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11"
	const upper = "0D8E3A4C-5B1F-4C7E-9A55-2F6F1F0C9D11"
	for _, c := range []struct {
		ids  []string
		want int
	}{
		{ids: []string{id, upper}, want: 1},
		{ids: []string{"a" + id + "a", "b" + id + "b", id}, want: 3},
		{ids: []string{"{" + id + "}", "urn:uuid:" + id, id, "0d8e3a4c5b1f4c7e9a552f6f1f0c9d11"}, want: 4},
		{ids: []string{"6af5cb15f4f35018c124817b", "6AF5CB15F4F35018C124817B"}, want: 2},
	} {
		s := &listService{answer: func(_ int, r listRequest) string {
			return `{"documents":[{"documentId":"` + strings.Join(c.ids, `"},{"documentId":"`) + `"}],"pagination":{"totalPages":1}}`
		}}
		ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
		require.NoError(t, err)
		require.Len(t, ids, c.want, "%q", c.ids)
	}
}

// TestAll_someRecordsWithoutIDs are known by their content, and two that are the same on one page are two. On a list of
// more than one page nothing tells them from the same again, and that is an error.
func TestAll_someRecordsWithoutIDs(t *testing.T) {
	const nameless = `{"documentName":"a"},{"documentName":"a"},{"documentName":"b"},`
	for _, c := range []struct {
		records, page int // page has the nameless ones
		pagination    string
		whole         bool
	}{
		{records: 10, page: 1, pagination: `{"totalPages":1}`, whole: true},
		{records: 10, page: 1},
		{records: 10, page: 1, pagination: `{"totalPages":2}`},
		{records: 150, page: 1},
		{records: 150, page: 2},
		{records: 100, page: 1, pagination: `{"totalPages":1}`},
		{records: 150, page: 2, pagination: `{"totalPages":2,"totalDocuments":153}`},
	} {
		t.Run(c.pagination, func(t *testing.T) {
			s := &listService{answer: func(_ int, r listRequest) string {
				page := pageJSON(window(upTo(c.records), r.page, r.limit), c.pagination)
				if r.page == c.page {
					page = strings.Replace(page, "[", "["+nameless, 1)
				}
				return page
			}}
			ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
			if c.whole {
				require.NoError(t, err)
				require.Equal(t, append([]string{"", "", ""}, wantIDs(upTo(c.records))...), ids)
				return
			}
			clienttest.RequireMatches(t, err, signforms.ErrIncomplete)
			require.ErrorContains(t, err, "have no id")
			seen := slices.DeleteFunc(ids, func(id string) bool { return id == "" })
			require.LessOrEqual(t, len(ids)-len(seen), 3, "each once")
		})
	}
}

// TestAll_oldestFirst: many documents with equal createdAt, and pages of one record.
func TestAll_oldestFirst(t *testing.T) {
	srv := signformstest.NewServer(t, &signformstest.Options{Profile: signformstest.Profile{OldestFirst: true}})
	for range 150 {
		srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Name: "Ann", Email: "ann@example.com"}}})
	}
	addPending(srv, 50)
	for _, limit := range []int{0, 1, 2, 3, 7} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			n := 0
			for _, err := range serviceClient(t, srv).Documents.All(t.Context(), signforms.DocumentListParams{Limit: limit}) {
				require.NoError(t, err, "limit %d", limit)
				n++
			}
			require.Equal(t, 200, n)
		})
	}
}
