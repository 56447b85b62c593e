package bench

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"

	"github.com/signforms/signforms-go"
)

// Fixture is a server of documents on loopback, and the two clients to compare. Both use [http.DefaultTransport].
type Fixture struct {
	SDK    *signforms.Client
	Hand   HandClient
	server *httptest.Server
}

// NewFixture starts a server with this many documents, a multiple of 100.
func NewFixture(documents int) (*Fixture, error) {
	server := httptest.NewServer(NewDocumentServer(documents))
	client, err := signforms.New(server.URL, APIKey, nil)
	if err != nil {
		server.Close()
		return nil, err
	}
	return &Fixture{SDK: client, Hand: HandClient{server.URL}, server: server}, nil
}

// Close ends the server.
func (f *Fixture) Close() {
	http.DefaultClient.CloseIdleConnections()
	f.server.Close()
}

// GetSDK gets a page of 100 documents with the SDK.
func (f *Fixture) GetSDK(ctx context.Context) error {
	page, err := f.SDK.Documents.List(ctx, signforms.DocumentListParams{Page: 1, Limit: pageSize})
	if err == nil && len(page.Items) != pageSize {
		err = fmt.Errorf("%d documents", len(page.Items))
	}
	return err
}

// GetByHand gets a page of 100 documents by hand.
func (f *Fixture) GetByHand(ctx context.Context) error {
	documents, _, err := f.Hand.List(ctx, 1)
	if err == nil && len(documents) != pageSize {
		err = fmt.Errorf("%d documents", len(documents))
	}
	return err
}

// ClientMeasurement is the cost of something with the SDK as a ratio to the same by hand: the median of the rounds. Both include
// the work of the server.
type ClientMeasurement struct {
	Name string
	Wall float64 // elapsed time
	CPU  float64 // CPU time
}

func repeat(ctx context.Context, times int, call func(context.Context) error) func() error {
	return func() error {
		for range times {
			if err := call(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// MeasureAll compares reading this many documents, page by page.
func MeasureAll(ctx context.Context, rounds, documents int) (ClientMeasurement, error) {
	f, err := NewFixture(documents)
	if err != nil {
		return ClientMeasurement{}, err
	}
	defer f.Close()
	return compare(fmt.Sprintf("all of %d documents", documents), rounds,
		func() error { return readAll(f.SDK.Documents.All(ctx, signforms.DocumentListParams{}), documents) },
		func() error { return readAll(f.Hand.All(ctx), documents) })
}

func readAll[T any](all iter.Seq2[T, error], want int) error {
	n := 0
	for _, err := range all {
		if err != nil {
			return err
		}
		n++
	}
	if n != want {
		return fmt.Errorf("%d documents, want %d", n, want)
	}
	return nil
}

// compare runs both in each round, in alternating order.
func compare(name string, rounds int, sdk, hand func() error) (ClientMeasurement, error) {
	var walls, cpus []float64
	for round := range rounds + 1 {
		var took [2]spent
		for i := range 2 {
			which := (round + i) % 2
			runtime.GC()
			since := clock()
			if err := []func() error{sdk, hand}[which](); err != nil {
				return ClientMeasurement{}, fmt.Errorf("%s: %w", name, err)
			}
			took[which] = since()
		}
		if round > 0 { // the first round opens connections and fills caches
			wall, cpu := took[0].over(1, took[1], 1)
			walls, cpus = append(walls, wall), append(cpus, cpu)
		}
	}
	slices.Sort(walls)
	slices.Sort(cpus)
	return ClientMeasurement{Name: name, Wall: median(walls), CPU: median(cpus)}, nil
}

// PeakHeap reads all items. It returns their number, and the largest growth of the live heap in bytes. It collects garbage and
// measures the heap each time after this many items, while the loop still holds the current item.
func PeakHeap[T any](all iter.Seq2[T, error], every int) (items int, peak int64, err error) {
	start := liveHeap()
	for item, err := range all {
		if err != nil {
			return items, peak, err
		}
		if items++; items%every == 0 {
			peak = max(peak, liveHeap()-start)
			runtime.KeepAlive(item)
		}
	}
	return items, peak, nil
}

func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// CallCost is the cost of a call: its allocations, including those of the server, and its time as a ratio to the same by hand.
type CallCost struct {
	Allocs, HandAllocs float64
	ClientMeasurement
}

// MeasureCalls compares getting one document and a page of 100 with the same by hand. The server answers with fixed bytes.
func MeasureCalls(ctx context.Context, rounds int) (one, list CallCost, err error) {
	calls, stop, err := newCalls()
	if err != nil {
		return one, list, err
	}
	defer stop()
	if one, err = calls.one.measure(ctx, "one record", rounds, 500); err != nil {
		return one, list, err
	}
	list, err = calls.list.measure(ctx, "a list of 100", rounds, 50)
	return one, list, err
}

func (p pair) measure(ctx context.Context, name string, rounds, calls int) (cost CallCost, err error) {
	client, hand := repeat(ctx, calls, p.sdk), repeat(ctx, calls, p.hand)
	if cost.ClientMeasurement, err = compare(name, rounds, client, hand); err != nil {
		return CallCost{}, err
	}
	if cost.Allocs, err = allocations(client, calls); err != nil {
		return CallCost{}, err
	}
	cost.HandAllocs, err = allocations(hand, calls)
	return cost, err
}

func allocations(run func() error, calls int) (float64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := run()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(calls), err
}
