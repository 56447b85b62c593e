package queue_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// signed is event n of a send of a template.
func signed(template string, n string, signers ...string) *webhook.TemplateSigned {
	e := &webhook.TemplateSigned{Document: webhook.Document{DocumentID: template, DocumentName: n}}
	for _, id := range signers {
		e.Signers = append(e.Signers, webhook.Signer{ID: id, Email: id + "@example.com"})
	}
	return e
}

func TestOrderingKey_events(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		s.accept(q,
			completed("d1", 1), completed("d1", 2), completed("d2", 1),
			&webhook.FormResponse{FormID: "f", FormResponseID: "r1"}, &webhook.FormResponse{FormID: "f", FormResponseID: "r2"},
			signed("t", "1", "s1", "s2"), signed("t", "2", "s2", "s1"), signed("t", "3", "s3"), signed("t", "4"), signed("t", "5"))
		require.Equal(s, 200, s.deliver(q, []byte(`[{"webhookEvent":"other"},{"webhookEvent":"other","n":2}]`)).Code)
		var keys []string
		for _, e := range s.list(q, queue.Filter{}) {
			keys = append(keys, e.OrderingKey)
		}
		require.Len(s, keys, 12)
		require.Equal(s, []string{"document:d1", "document:d1", "document:d2", "response:r1", "response:r2"}, keys[:5])
		require.Equal(s, keys[5], keys[6], "the same signers, in any order")
		slices.Sort(keys)
		require.Len(s, slices.Compact(keys), 10, "other signers, no signers and unknown events have ordering keys of their own")
	})
}

func TestFilter_selects(t *testing.T) {
	eachStore(t, func(s stage) {
		now := time.Now()
		q := s.queue(&queue.Options{Retries: []time.Duration{}})
		s.accept(q, completed("d1", 1), &webhook.FormResponse{FormResponseID: "d1"}, signed("t", "1", "s1", "s2"), signed("t", "2", "s1x"))
		stop := s.run(q, webhook.Funcs{SignatureCompleted: func(context.Context, *webhook.SignatureCompleted) error { return errors.New("no") }})
		s.settled(q)
		stop()
		s.accept(q, completed("d1", 2))
		require.Equal(s, http.StatusOK, s.deliver(q, []byte(`{"webhookEvent":"amended","formResponseId":"r2","signers":[{"signerId":"s9"}]}`)).Code)
		for _, row := range []struct {
			want string
			f    queue.Filter
		}{
			{want: "123456", f: queue.Filter{}},
			{want: "6", f: queue.Filter{Response: "r2"}},
			{want: "6 ", f: queue.Filter{Document: "r2"}},
			{want: " 6", f: queue.Filter{Signers: []string{"s9"}}},
			{want: "1", f: queue.Filter{States: []queue.State{queue.Failed}}},
			{want: "56", f: queue.Filter{States: []queue.State{queue.Pending}}},
			{want: "156", f: queue.Filter{States: []queue.State{queue.Failed, queue.Pending}}},
			{want: "1 5", f: queue.Filter{Document: "d1"}},
			{want: "2", f: queue.Filter{Response: "d1"}},
			{want: "3", f: queue.Filter{Signers: []string{"s2", "nobody"}}},
			{want: "3 ", f: queue.Filter{Signers: []string{"s1"}}},
			{want: " 15", f: queue.Filter{Type: webhook.TypeSignatureCompleted}},
			{want: "1 2 4", f: queue.Filter{IDs: []int64{1, 2, 4}}},
			{want: " 1", f: queue.Filter{IDs: []int64{1, 2, 4}, States: []queue.State{queue.Failed}}},
			{want: "", f: queue.Filter{Before: now.Add(-time.Minute)}},
			{want: "12345 6", f: queue.Filter{Since: now.Add(-time.Minute), Before: now.Add(time.Minute)}},
		} {
			s.Run(row.want, func(t *testing.T) {
				s := s
				s.T = t
				got := ""
				for _, e := range s.list(q, row.f) {
					got += string('0' + rune(e.ID))
				}
				require.Equal(s, string(bytes.ReplaceAll([]byte(row.want), []byte(" "), nil)), got, "%+v", row.f)
			})
		}
	})
}

func TestList_readsPages(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		var events []webhook.Event
		for n := range 1201 {
			events = append(events, completed("a", n))
		}
		s.accept(q, events...)
		all := s.list(q, queue.Filter{})
		require.Len(s, all, 1201)
		for i := range all[1:] {
			require.Less(s, all[i].ID, all[i+1].ID)
		}
		for range q.List(s.Context(), queue.Filter{}) {
			break
		}
		n, err := q.Erase(s.Context(), queue.Filter{Document: "a"})
		require.NoError(s, err)
		require.Equal(s, 1201, n)
	})
}

func TestRetry(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(&queue.Options{Retries: []time.Duration{time.Hour}})
		broken := true
		var j journal
		s.run(q, j.noting(func(ctx context.Context, e webhook.Event) error {
			entry, _ := queue.EntryFromContext(ctx)
			switch {
			case !broken && entry.Attempts > 0:
				return webhook.Permanent(errors.New("it does not have all its tries again"))
			case !broken:
				return nil
			case name(e) == "a/1":
				return webhook.Permanent(errors.New("never"))
			}
			return errors.New("later")
		}))
		s.accept(q, completed("a", 1), completed("b", 1))
		s.until(q, func(st queue.Stats) bool { return st.Failed == 1 && st.Retried == 1 && st.Running == 0 })
		broken = false
		n, err := q.Retry(s.Context(), queue.Filter{States: []queue.State{queue.Failed}})
		require.NoError(s, err)
		require.Equal(s, 1, n)
		s.until(q, func(st queue.Stats) bool { return st.Failed == 0 && st.Pending == 1 })
		n, err = q.Retry(s.Context(), queue.Filter{})
		require.NoError(s, err)
		require.Equal(s, 1, n, "what waits for its next try gets it now")
		require.Zero(s, s.settled(q).Failed)
		require.Equal(s, []string{"a/1", "a/1", "b/1", "b/1"}, j.sorted())
		n, err = q.Retry(s.Context(), queue.Filter{})
		require.NoError(s, err)
		require.Zero(s, n)
	})
}

func TestErase_pendingAndRunningEvents(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		var j journal
		began, goOn := make(chan struct{}), make(chan struct{})
		s.run(q, j.noting(hold("a/2", began, goOn)))
		s.accept(q, completed("a", 1), completed("a", 2))
		<-began
		s.accept(q, completed("a", 3))
		erased := make(chan error, 1)
		go func() {
			n, err := q.Erase(s.Context(), queue.Filter{Document: "a", States: []queue.State{queue.Pending}})
			if n != 2 {
				err = errors.Join(err, errors.New("not all"))
			}
			erased <- err
		}()
		s.until(q, func(st queue.Stats) bool { return st.Pending == 0 })
		s.endsAfter(erased, goOn)
		s.settled(q)
		require.Equal(s, []string{"a/1", "a/2"}, j.all())
		require.JSONEq(s, `{"status":"duplicate"}`, s.deliver(q, webhooktest.Payload(completed("a", 2))).Body.String(), "an erased event does not come back")
		for _, e := range s.list(q, queue.Filter{})[1:] {
			require.Equal(s, queue.Erased, e.State)
			require.Empty(s, e.OrderingKey+e.Subject+string(e.Type)+e.Error)
		}
		_, err := q.Erase(s.Context(), queue.Filter{})
		require.ErrorContains(s, err, "would erase everything")
		s.accept(q, completed("a", 4))
		s.settled(q)
		require.Equal(s, []string{"a/1", "a/2", "a/4"}, j.all(), "what is sent about the document later is another event")
	})
}

func TestErase_unblocksLaterEvents(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(&queue.Options{Retries: []time.Duration{time.Hour}})
		var j journal
		s.run(q, j.noting(func(_ context.Context, e webhook.Event) error {
			if name(e) == "a/1" {
				return errors.New("no")
			}
			return nil
		}))
		s.accept(q, completed("a", 1), completed("a", 2))
		time.Sleep(time.Minute)
		begun := time.Now()
		n, err := q.Erase(s.Context(), queue.Filter{IDs: []int64{1}})
		require.NoError(s, err)
		require.Equal(s, 1, n)
		s.until(q, func(st queue.Stats) bool { return st.Pending == 0 })
		require.Equal(s, []string{"a/1", "a/2"}, j.all())
		require.Less(s, time.Since(begun), time.Minute, "a/2 does not wait for the next try of a/1")
	})
}

func TestErase_byTheFunctionOfTheDocument(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		var j journal
		erased := make(chan error, 10)
		s.run(q, j.noting(func(ctx context.Context, e webhook.Event) error {
			_, err := q.Erase(ctx, queue.Filter{Document: e.SubjectID()})
			erased <- err
			return err
		}))
		s.accept(q, completed("a", 1), completed("a", 2))
		s.settled(q)
		require.NoError(s, <-erased)
		require.Equal(s, []string{"a/1"}, j.all())
	})
}

// planted is in the events of the tests below and must be nowhere in the files afterwards.
const planted = "planted.address@example.com"

func plant(document string, n int) *webhook.SignatureCompleted {
	e := completed(document, n)
	for range 200 { // so that bodies are in overflow pages too
		e.Signers = append(e.Signers, webhook.Signer{Email: planted, Name: "Name of " + planted, Status: webhook.SignerSigned})
		if n%2 == 0 {
			break
		}
	}
	return e
}

// bytesLeft counts the planted text in all files of a folder.
func bytesLeft(t *testing.T, dir string) (n int) {
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		n += bytes.Count(text, []byte(planted))
	}
	return n
}

func TestErase_bytesAreInNoFile(t *testing.T) {
	s := stage{T: t, where: newFile(t)}
	dir := filepath.Dir(string(s.where))
	q := s.queue(&queue.Options{Retries: []time.Duration{}})
	for n := range 20 {
		s.accept(q, plant("done", n), plant("failed", n))
	}
	stop := s.run(q, webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
		if e.SubjectID() == "failed" {
			return errors.New("cannot send to " + planted)
		}
		return nil
	}})
	s.settled(q)
	stop()
	for n := range 20 {
		s.accept(q, plant("pending", n))
	}
	require.NotZero(t, bytesLeft(t, dir))
	other := s.queue(nil) // another process has the file open too
	n, err := other.Erase(t.Context(), queue.Filter{States: []queue.State{queue.Failed, queue.Pending}})
	require.NoError(t, err)
	require.Equal(t, 40, n)
	require.Zero(t, bytesLeft(t, dir))
}

func TestErase_busyCheckpointIsReported(t *testing.T) {
	onFileVirtually(t, func(s stage) {
		q := s.queue(nil)
		s.accept(q, plant("a", 1))
		db, err := sql.Open("sqlite", "file:"+string(s.where))
		require.NoError(s, err)
		defer db.Close()
		reader, err := db.BeginTx(s.Context(), nil)
		require.NoError(s, err)
		var count int
		require.NoError(s, reader.QueryRow("SELECT count(*) FROM signforms_events").Scan(&count))
		n, err := q.Erase(s.Context(), queue.Filter{Document: "a"})
		require.ErrorIs(s, err, queue.ErrNotTruncated)
		require.Equal(s, 1, n)
		require.NotZero(s, bytesLeft(s.T, filepath.Dir(string(s.where))), "or there was nothing to report")
		require.NoError(s, reader.Rollback())
		_, err = q.Erase(s.Context(), queue.Filter{Document: "a"})
		require.NoError(s, err)
		require.Zero(s, bytesLeft(s.T, filepath.Dir(string(s.where))))
	})
}

func TestSweep_keepTimes(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(&queue.Options{KeepBodies: time.Hour, KeepKeys: 48 * time.Hour, KeepFailed: 240 * time.Hour, Retries: []time.Duration{}})
		s.run(q, webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
			if e.SubjectID() == "failed" {
				return errors.New("no")
			}
			return nil
		}})
		s.accept(q, completed("done", 1), completed("failed", 1))
		s.settledSlowly(q)
		require.Equal(s, []string{"done/done", "failed/failed"}, s.states(q))
		time.Sleep(47 * time.Hour)
		require.JSONEq(s, `{"status":"duplicate"}`, s.deliver(q, webhooktest.Payload(completed("done", 1))).Body.String())
		time.Sleep(3 * time.Hour) // the queue of this test sweeps once an hour
		require.Equal(s, []string{"failed/failed"}, s.states(q))
		time.Sleep(193 * time.Hour)
		require.Equal(s, []string{"/erased"}, s.states(q))
		time.Sleep(51 * time.Hour)
		require.Empty(s, s.states(q))
		require.JSONEq(s, `{"status":"ok"}`, s.deliver(q, webhooktest.Payload(completed("done", 1))).Body.String(), "its key is forgotten")
	})
}

func (s stage) states(q *queue.Queue) (all []string) {
	for _, e := range s.list(q, queue.Filter{}) {
		all = append(all, e.Subject+"/"+string(e.State))
	}
	return all
}

// Entries that the log reports as erased are erased.
func TestSweep_logsFailedEventsOnce(t *testing.T) {
	stage{T: t, where: where(sharedPostgres(t).newSchema(t))}.virtually(func(s stage) {
		var log logged
		q := s.queue(&queue.Options{Retries: []time.Duration{}, KeepFailed: time.Hour, Logger: log.logger()})
		var events []webhook.Event
		for n := range 501 { // more than one transaction erases
			events = append(events, completed(fmt.Sprint(n), 1))
		}
		s.accept(q, events...)
		stop := s.run(q, failing("no"))
		s.settledSlowly(q)
		stop()
		s.exec(`CREATE FUNCTION refuse() RETURNS trigger AS 'BEGIN RAISE EXCEPTION ''planned''; END' LANGUAGE plpgsql`)
		s.exec(`CREATE CONSTRAINT TRIGGER refused AFTER UPDATE ON signforms_events DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION refuse()`)
		stop = s.run(q, failing("no"))
		time.Sleep(5 * time.Hour)
		stop()
		require.Positive(s, log.count("planned"))
		require.Zero(s, log.count("it was never processed"))
		require.Len(s, s.list(q, queue.Filter{States: []queue.State{queue.Failed}}), 501)
		s.exec("DROP TRIGGER refused ON signforms_events")
		s.run(q, failing("no"))
		time.Sleep(5 * time.Hour)
		require.Equal(s, 501, log.count("it was never processed"))
		require.Empty(s, s.list(q, queue.Filter{States: []queue.State{queue.Failed}}))
	})
}

// endsAfter requires that an Erase has not ended before its function may go on, and that it then ends well.
func (s stage) endsAfter(erased <-chan error, goOn chan struct{}) {
	s.Helper()
	early := false
	select {
	case <-erased:
		early = true
	case <-time.After(50 * time.Millisecond):
	}
	close(goOn) // also on failure, or the queue would not close
	require.False(s, early, "a function was running")
	require.NoError(s, <-erased)
}

func TestNote(t *testing.T) {
	type requestKey struct{}
	eachStore(t, func(s stage) {
		q := s.queue(&queue.Options{Note: func(ctx context.Context) string { return ctx.Value(requestKey{}).(string) }})
		note := func(text string, events ...webhook.Event) {
			require.NoError(s, q.Store(context.WithValue(s.Context(), requestKey{}, text), s.parsed(events...)))
		}
		note("trace a", completed("d1", 1), completed("d2", 1))
		note("trace b", completed("d1", 1), completed("d3", 1))
		note("\x00"+strings.Repeat("é", 200), completed("d4", 1))
		var notes []string
		for _, e := range s.list(q, queue.Filter{}) {
			notes = append(notes, e.Note)
		}
		require.Equal(s, []string{"trace a", "trace a", "trace b"}, notes[:3], "a repeat changes nothing")
		require.Equal(s, "\uFFFD"+strings.Repeat("é", 99)+"\uFFFD", notes[3])

		seen := make(chan string, 4)
		stop := s.run(q, webhook.Funcs{Default: func(ctx context.Context, _ webhook.Event) error {
			entry, _ := queue.EntryFromContext(ctx)
			seen <- entry.Note
			return nil
		}})
		s.settled(q)
		stop()
		require.Len(s, seen, 4)
		require.NotEmpty(s, <-seen)
		_, err := q.Erase(s.Context(), queue.Filter{Document: "d1"})
		require.NoError(s, err)
		require.Empty(s, s.list(q, queue.Filter{})[0].Note)
	})
}
