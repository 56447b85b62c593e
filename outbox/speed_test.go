package outbox

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

var listed = flag.Int("outbox.listed", 5000, "how many documents TestWalk_manyDocuments lists; one in 100 is of a message in doubt")

const templateID = "65afe90c-6eab-4089-8a6f-5b870943305f"

// fast is a service without state machine, socket or delay: it makes documents and lists them, the newest first.
type fast struct {
	mu        sync.Mutex
	documents []string // as JSON
	reads     int
}

func (s *fast) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body string
	if r.Method == http.MethodPost {
		var in struct {
			Receivers []signforms.Receiver `json:"receiversList"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return nil, err
		}
		id, signers := s.add(in.Receivers[0].Email)
		body = fmt.Sprintf(`{"createdDocumentId":"%s","createdDocumentStatus":"PENDING","signers":%s}`, id, signers)
	} else {
		s.reads++
		query := r.URL.Query()
		page, _ := strconv.Atoi(cmp.Or(query.Get("page"), "1"))
		limit, _ := strconv.Atoi(cmp.Or(query.Get("limit"), "10"))
		var list []string
		for i := (page - 1) * limit; i < min(page*limit, len(s.documents)); i++ {
			list = append(list, s.documents[len(s.documents)-1-i])
		}
		body = fmt.Sprintf(`{"respondents":[%s],"pagination":{"currentPage":%d,"totalPages":%d,"totalRespondants":%d}}`, strings.Join(list, ","), page,
			(len(s.documents)+limit-1)/limit, len(s.documents))
	}
	return &http.Response{StatusCode: http.StatusOK, Request: r, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
		Header: http.Header{"Content-Type": {"application/json"}}}, nil
}

// add makes a document.
func (s *fast) add(email string) (id, signers string) {
	n := len(s.documents)
	id = fmt.Sprintf("%024x", n+1)
	signers = fmt.Sprintf(`[{"signerId":"00000000-0000-4000-8000-%012x","email":"%s","name":"Ann","status":"PENDING","roleTitle":"Buyer"}]`, n+1, email)
	s.documents = append(s.documents, fmt.Sprintf(`{"respondentDocumentId":"%s","templateId":"%s","status":"PENDING","createdAt":"%s","signers":%s}`,
		id, templateID, begin.Add(time.Duration(n)*time.Second).Format(time.RFC3339), signers))
	return id, signers
}

// open opens a box that sends to s, and returns a function that adds messages to it.
func (s *fast) open(t testing.TB, db *sql.DB, o *Options) (b *Box, add func(from, n int)) {
	client, err := signforms.New("https://api.example.com", "a-key-of-a-test", &signforms.Options{Transport: s, MaxAttempts: 1})
	require.NoError(t, err)
	o.Logger = slog.New(slog.DiscardHandler)
	b, err = Open(t.Context(), db, client, o)
	require.NoError(t, err)
	return b, func(from, n int) {
		tx, err := db.Begin()
		require.NoError(t, err)
		defer tx.Rollback()
		for i := from; i < from+n; i++ {
			require.NoError(t, b.Add(t.Context(), tx, Message{Key: fmt.Sprint(i), Send: sendTo(templateID, fmt.Sprintf("p%d@example.com", i))}))
		}
		require.NoError(t, tx.Commit())
	}
}

// A walk settles all doubts of a template in one pass over its list.
func TestWalk_manyDocuments(t *testing.T) {
	s := &fast{}
	b, add := s.open(t, sqlitePlace(t).open(t), &Options{Now: func() time.Time { return begin.Add(time.Hour) }})
	doubts := *listed / 100
	add(0, doubts)
	_, err := b.db.Exec("UPDATE signforms_outbox SET state = 'sending', attempt = 1, phase = 1, timeout = 120000, first_walk = 0, watched = 180000")
	require.NoError(t, err)
	for i := range *listed {
		email := "somebody-else@example.com"
		if i%100 == 50 {
			email = fmt.Sprintf("p%d@example.com", i/100)
		}
		s.add(email)
	}
	b.logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	newRunner(b).step(t.Context())
	var sent int
	require.NoError(t, b.db.QueryRow("SELECT count(*) FROM signforms_outbox WHERE state = 'sent'").Scan(&sent))
	require.Equal(t, doubts, sent)
	require.LessOrEqual(t, s.reads, *listed/100*6/5+5)
	t.Logf("%d documents, %d doubts: %d requests", *listed, doubts, s.reads)
}

// Each iteration sends 1,000 messages from a box that has others already, and makes as many bare commits in the same file.
func BenchmarkRun(b *testing.B) {
	const messages = 1000
	for _, rows := range []int{1000, 100_000} {
		for _, state := range []State{Sent, Pending} {
			b.Run(fmt.Sprintf("%s=%d", state, rows), func(b *testing.B) {
				db := place{"sqlite", sqliteSource(filepath.Join(b.TempDir(), "app.db"))}.open(b)
				s := &fast{}
				told := make(chan string, messages)
				box, add := s.open(b, db, &Options{OnChange: func(_ context.Context, _ *sql.Tx, e Entry) error {
					told <- e.Key
					return nil
				}})
				run := func(n int) time.Duration {
					began := time.Now()
					ctx, cancel := context.WithCancel(b.Context())
					ended := make(chan error, 1)
					go func() { ended <- box.Run(ctx) }()
					for range n {
						<-told
					}
					took := time.Since(began)
					cancel()
					for {
						select {
						case <-told:
						case err := <-ended:
							require.NoError(b, err)
							return took
						}
					}
				}
				add(0, 1)
				run(1) // the first walk
				add(1, rows)
				if state == Sent {
					fill(b, db)
				}
				_, err := db.Exec("CREATE TABLE bare (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
				require.NoError(b, err)
				var took, commits, processor time.Duration
				for i := range b.N {
					add(rows+1+i*messages, messages)
					before := processorTime(b)
					took += run(messages)
					processor += processorTime(b) - before
					commits += bare(b, db, messages)
				}
				sent := float64(len(s.documents) - 1)
				b.ReportMetric(sent/took.Seconds(), "messages/s")
				b.ReportMetric(float64(messages*b.N)/commits.Seconds(), "commits/s")
				b.ReportMetric(sent/float64(messages*b.N)*commits.Seconds()/took.Seconds(), "messages/commit")
				b.ReportMetric(math.Round(float64(processor.Microseconds())/sent), "CPU-µs/message")
			})
		}
	}
}

// processorTime is the time that this process has had a processor: it depends little on what else runs.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// fill makes all pending messages sent, each with a document.
func fill(b *testing.B, db *sql.DB) {
	for _, statement := range []string{
		"INSERT INTO signforms_outbox_documents (box, document, template, message) SELECT box, 'd' || id, template, id FROM signforms_outbox WHERE state = 'pending'",
		"INSERT INTO signforms_outbox_signers (box, signer, message) SELECT box, 's' || id, id FROM signforms_outbox WHERE state = 'pending'",
		"UPDATE signforms_outbox SET state = 'sent', attempt = 1, document = 'd' || id, status = 'PENDING', due = 0, changes = 1, told = 1 WHERE state = 'pending'",
	} {
		_, err := db.Exec(statement)
		require.NoError(b, err)
	}
}

// bare commits n rows, each in a transaction that survives a power cut.
func bare(b *testing.B, db *sql.DB, n int) time.Duration {
	conn, err := db.Conn(b.Context())
	require.NoError(b, err)
	defer conn.Close()
	_, err = conn.ExecContext(b.Context(), "PRAGMA synchronous = FULL")
	require.NoError(b, err)
	began := time.Now()
	for range n {
		_, err := conn.ExecContext(b.Context(), "INSERT INTO bare (value) VALUES ('x')")
		require.NoError(b, err)
	}
	took := time.Since(began)
	_, err = conn.ExecContext(b.Context(), "PRAGMA synchronous = NORMAL")
	require.NoError(b, err)
	return took
}
