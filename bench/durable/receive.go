package durable

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/signforms/signforms-go/bench"
	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// receiver is one row of the table.
type receiver struct {
	name string
	open func(dir string) (h http.Handler, close func() error, err error)
}

const (
	rowHandler = "webhook.Handler, empty function"
	rowBare    = "bare grouped INSERT"
	rowQueue   = "queue"
)

var receivers = []receiver{
	{rowHandler, func(string) (http.Handler, func() error, error) {
		v, err := webhook.NewVerifier([]string{bench.Secret}, nil)
		if err != nil {
			return nil, nil, err
		}
		empty := webhook.Funcs{Other: func(context.Context, webhook.Event) error { return nil }}
		return webhook.NewHandler(v, empty, nil), func() error { return nil }, nil
	}},
	{rowBare, openBare},
	{rowQueue, func(dir string) (http.Handler, func() error, error) {
		v, err := webhook.NewVerifier([]string{bench.Secret}, nil)
		if err != nil {
			return nil, nil, err
		}
		q, err := queue.Open(filepath.Join(dir, "queue.db"), nil)
		if err != nil {
			return nil, nil, err
		}
		return q.Handler(v), q.Close, nil
	}},
}

// result is the result of one receiver with one number of senders.
type result struct {
	p50  time.Duration
	rate float64 // deliveries per second
}

// receive prints a table for 1, 16 and 64 senders. Receivers come in random order in each round, each with an empty database.
func (s Settings) receive(ctx context.Context, w io.Writer) error {
	fmt.Fprintln(w, "| 1 KB event over HTTP | senders | p50 | deliveries/s | of a bare grouped INSERT |\n|---|---|---|---|---|")
	for _, senders := range []int{1, 16, 64} {
		results := map[string][]result{}
		for range s.Rounds {
			for _, i := range rand.Perm(len(receivers)) {
				got, err := s.measure(ctx, receivers[i], senders)
				if err != nil {
					return fmt.Errorf("%s: %w", receivers[i].name, err)
				}
				results[receivers[i].name] = append(results[receivers[i].name], got)
			}
		}
		for _, r := range receivers {
			m := medianOf(results[r.name])
			fmt.Fprintf(w, "| %s | %d | %.2f ms | %.0f | %.2f |\n", r.name, senders, m.p50.Seconds()*1000, m.rate, m.rate/medianOf(results[rowBare]).rate)
		}
	}
	return nil
}

func medianOf(all []result) result {
	p50s, rates := []time.Duration{}, []float64{}
	for _, r := range all {
		p50s, rates = append(p50s, r.p50), append(rates, r.rate)
	}
	return result{median(p50s), median(rates)}
}

func median[T time.Duration | float64](all []T) T {
	slices.Sort(all)
	return all[len(all)/2]
}

// measure sends deliveries for the time of a round. Each is new and must be answered 200.
func (s Settings) measure(ctx context.Context, r receiver, senders int) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	h, closeStore, err := r.open(tempDir(s.Dir))
	if err != nil {
		return result{}, err
	}
	server := httptest.NewServer(h)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	begun := time.Now()
	deliveries := &deliveries{sender: bench.NewSender(bench.Row{Sign: sign}, bench.Payloads()[0])}
	for range senders {
		wg.Go(func() {
			got, failed := send(ctx, client, server.URL, deliveries, begun.Add(s.Round))
			mu.Lock()
			defer mu.Unlock()
			took = append(took, got...)
			if failed != nil {
				err = failed
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(begun)
	client.CloseIdleConnections()
	server.Close()
	if closing := closeStore(); err == nil {
		err = closing
	}
	if err != nil {
		return result{}, err
	}
	return result{median(took), float64(len(took)) / elapsed.Seconds()}, nil
}

func sign(body []byte, at time.Time) http.Header { return webhook.Sign(bench.Secret, at, body) }

// deliveries makes the deliveries for all senders of a round. Each is sent once.
type deliveries struct {
	mu     sync.Mutex
	sender *bench.Sender
}

func (d *deliveries) next() *bench.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sender.Send(1)[0]
}

// send sends deliveries until the time is over.
func send(ctx context.Context, client *http.Client, url string, d *deliveries, until time.Time) (took []time.Duration, err error) {
	for time.Now().Before(until) {
		one := d.next()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(one.Body))
		if err != nil {
			return nil, err
		}
		r.Header = one.Header
		begun := time.Now()
		resp, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		took = append(took, time.Since(begun))
		if err != nil || resp.StatusCode != http.StatusOK || bytes.Contains(answer, []byte("duplicate")) {
			return nil, fmt.Errorf("answered %d %s", resp.StatusCode, answer)
		}
	}
	return took, nil
}
