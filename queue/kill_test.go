package queue_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

var (
	kills = flag.Int("queue.kills", 50, "how often TestReceive_killedProcessesLoseNothing kills the process, on each store")
	acked = flag.Int("queue.acked", 0, "how many deliveries must be answered 200 meanwhile, such as 100000 with -timeout 1h")
)

// senders deliver events of ordering keys of their own, one after the other, each again until it is answered 200.
type senders struct {
	s      stage
	target atomic.Pointer[string] // host and port
	stop   chan struct{}
	wg     sync.WaitGroup
	mu     sync.Mutex
	acked  map[string]int // ordering key → up to which number events were answered 200
	count  atomic.Int64
}

// newSenders starts n senders of width ordering keys each.
func newSenders(s stage, n, width int) *senders {
	d := &senders{s: s, stop: make(chan struct{}), acked: map[string]int{}}
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	s.Cleanup(client.CloseIdleConnections)
	for sender := range n {
		d.wg.Go(func() {
			for i := 1; ; i++ {
				for key := range width {
					if !d.deliver(client, fmt.Sprintf("key-%d-%d", sender, key), i) {
						return
					}
				}
			}
		})
	}
	return d
}

func (d *senders) aim(addr string) { d.target.Store(&addr) }

// deliver reports whether the event was answered 200 before the end.
func (d *senders) deliver(client *http.Client, key string, n int) bool {
	payload := webhooktest.Payload(completed(key, n))
	for {
		select {
		case <-d.stop:
			return false
		default:
		}
		if addr := d.target.Load(); addr != nil {
			resp, err := client.Do(webhooktest.NewRequest("http://"+*addr+"/", secret, time.Now(), payload))
			if err == nil {
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err == nil && resp.StatusCode == 200 && bytes.Contains(body, []byte("status")) {
					d.mu.Lock()
					d.acked[key] = n
					d.mu.Unlock()
					d.count.Add(1)
					return true
				}
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// end stops the senders and returns what was acknowledged.
func (d *senders) end() map[string]int {
	close(d.stop)
	d.wg.Wait()
	return maps.Clone(d.acked)
}

// requireJournal checks that every acknowledged event ran, and that of each ordering key the first
// runs were in order. It returns how many runs were repeats.
func (s stage) requireJournal(path string, acked map[string]int) (runs, repeats int) {
	s.Helper()
	text, err := os.ReadFile(path)
	require.NoError(s, err)
	reached := map[string]int{}
	for entry := range strings.Lines(string(text)) {
		key, number, _ := strings.Cut(strings.TrimSpace(entry), "/")
		n, err := strconv.Atoi(number)
		require.NoError(s, err, entry)
		runs++
		if n <= reached[key] {
			repeats++
			continue
		}
		require.Equal(s, reached[key]+1, n, "%s: an event ran before the one in front of it", key)
		reached[key] = n
	}
	for key, n := range acked {
		require.GreaterOrEqual(s, reached[key], n, "%s: acknowledged, never processed", key)
	}
	return runs, repeats
}

func TestReceive_killedProcessesLoseNothing(t *testing.T) {
	long(t)
	eachStore(t, func(s stage) {
		journal := filepath.Join(s.TempDir(), "journal")
		d := newSenders(s, 8, 25)
		for kill := range *kills {
			c := s.start(roleServe, journal)
			d.aim(c.addr)
			for d.count.Load() < int64(max(*acked/(*kills), 3)*(kill+1)) {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Duration(20+rand.N(150)) * time.Millisecond)
			c.kill()
		}
		c := s.start(roleServe, journal)
		d.aim(c.addr)
		answered := d.end()
		q := s.queue(nil)
		s.until(q, func(st queue.Stats) bool { return st.Pending == 0 })
		c.kill()
		require.Empty(s, s.list(q, queue.Filter{States: []queue.State{queue.Failed}}))
		runs, repeats := s.requireJournal(journal, answered)
		s.Logf("%d kills: %d deliveries answered 200, 0 lost, %d runs of which %d repeated", *kills, d.count.Load(), runs, repeats)
		require.Greater(s, int(d.count.Load()), 2**kills, "so few deliveries that the kills met nothing")
		require.LessOrEqual(s, repeats, 8**kills, "a kill repeats at most what ran")
	})
}

// An event whose function ends the process fails like any other, and the later events of its ordering key run.
func TestRun_eventThatKillsItsProcess(t *testing.T) {
	eachStore(t, func(s stage) {
		journal := filepath.Join(s.TempDir(), "journal")
		q := s.queue(nil)
		s.accept(q, completed("deadly", 1), completed("deadly", 2))
		for range 3 {
			require.Equal(s, deadlyCode, s.start(roleDeadly, journal).died(s))
			s.exec("UPDATE signforms_ordering_keys SET lease = 1") // its end has come: a short lease would also end in a slow process
		}
		s.start(roleDeadly, journal)
		st := s.settled(q)
		require.Equal(s, 1, st.Failed)
		text, err := os.ReadFile(journal)
		require.NoError(s, err)
		require.Equal(s, "deadly/1\ndeadly/1\ndeadly/1\ndeadly/2\n", string(text))
		failed := s.list(q, queue.Filter{States: []queue.State{queue.Failed}})
		require.Contains(s, failed[0].Error, "the process ended")
	})
}

func TestRun_severalProcesses(t *testing.T) {
	eachStore(t, func(s stage) {
		journal := filepath.Join(s.TempDir(), "journal")
		workers := 3
		if s.isFile() {
			workers = 2
		}
		for range workers {
			s.start(roleWork, journal)
		}
		q := s.queue(nil)
		acked := map[string]int{}
		for n := 1; n <= 30; n++ {
			var events []webhook.Event
			for key := range 50 {
				events = append(events, completed(fmt.Sprintf("key-%d", key), n))
				acked[fmt.Sprintf("key-%d", key)] = n
			}
			s.accept(q, events...)
		}
		s.settled(q)
		runs, repeats := s.requireJournal(journal, acked)
		require.Equal(s, 1500, runs)
		require.Zero(s, repeats, "events that two processes ran")
	})
}

// suspend stops a child while it is not writing: a process that is stopped in a transaction stops
// all others of the file.
func (s stage) suspend(c *child, q *queue.Queue) {
	for c.suspend(); s.deliver(q, webhooktest.Payload(completed("b", 1))).Code != http.StatusOK; c.suspend() {
		c.resume()
		time.Sleep(100 * time.Millisecond)
	}
}

func TestRun_suspendedWorkerChangesNothing(t *testing.T) {
	long(t)
	eachStore(t, func(s stage) {
		journal := filepath.Join(s.TempDir(), "journal")
		q := s.queue(&queue.Options{Timeout: 2 * childTimeout})
		s.accept(q, completed("a", 1), completed("a", 2), completed("a", 3))
		c := s.start(roleSlow, journal)
		s.until(q, func(queue.Stats) bool {
			text, _ := os.ReadFile(journal)
			return len(text) > 0
		})
		s.suspend(c, q)
		file, err := os.OpenFile(journal, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(s, err)
		defer file.Close()
		began, goOn := make(chan struct{}, 1), make(chan struct{})
		write, wait := appending(file, false), hold("a/2", began, goOn)
		s.run(q, webhook.Funcs{Default: func(ctx context.Context, e webhook.Event) error {
			return errors.Join(write.Default(ctx, e), wait(ctx, e))
		}})
		<-began // the ordering key is this process's now
		c.resume()
		fmt.Fprintln(c.stdin)
		require.Equal(s, "settled a stale", c.line(s))
		close(goOn)
		s.settled(q)
		runs, repeats := s.requireJournal(journal, map[string]int{"a": 3, "b": 1})
		require.Equal(s, 5, runs)
		require.Equal(s, 1, repeats)
		done := s.list(q, queue.Filter{})
		require.Len(s, done, 4)
		for _, e := range done {
			require.Equal(s, queue.Done, e.State)
		}
	})
}
