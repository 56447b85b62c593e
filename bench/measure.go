package bench

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// Settings say how long to measure.
type Settings struct {
	Rounds int           // how often each row is measured with each payload
	Sample time.Duration // CPU time of one measurement of a row; the baseline is measured as long before it and after it
}

// Measurement is the cost of a row with a payload. Times are per delivery and are medians of the rounds. Their unit is the time of an
// HMAC-SHA256 over the same bytes with reused state.
type Measurement struct {
	Row     Row
	Payload Payload
	Wall    float64 // elapsed time; other programs on the machine distort it
	CPU     float64 // CPU time, including that of the garbage collector
	Spread  float64 // half the distance between the quartiles of CPU, as a fraction of CPU
	Allocs  float64 // per delivery
	Bytes   float64 // allocated per delivery
}

// spent is elapsed time and CPU time.
type spent struct{ wall, cpu time.Duration }

// clock starts a measurement. since returns the time spent since then.
func clock() (since func() spent) {
	start, startCPU := time.Now(), CPUTime()
	return func() spent { return spent{time.Since(start), CPUTime() - startCPU} }
}

func (s *spent) add(more spent) {
	s.wall += more.wall
	s.cpu += more.cpu
}

// over returns the ratios of the times per thing: those of s for n things to those of base for m things.
func (s spent) over(n int, base spent, m int) (wall, cpu float64) {
	k := float64(m) / float64(n)
	return k * s.wall.Seconds() / base.wall.Seconds(), k * s.cpu.Seconds() / base.cpu.Seconds()
}

// subject is a row with a payload, and its measurements so far.
type subject struct {
	row      Row
	payload  Payload
	sender   *Sender
	receive  Receiver
	received int // events that receive got
	hmac     *baseline
	wall     []float64
	cpu      []float64
	found    Measurement
}

// Measure measures all rows with all payloads. The rows of a round come in random order. Each is measured between two measurements of
// the baseline with the same bodies.
func Measure(ctx context.Context, rows []Row, payloads []Payload, s Settings) ([]Measurement, error) {
	var subjects []*subject
	for _, p := range payloads {
		for _, row := range rows {
			sub := &subject{row: row, payload: p, sender: NewSender(row, p), hmac: newBaseline()}
			if err := sub.countAllocations(); err != nil {
				return nil, err
			}
			subjects = append(subjects, sub)
		}
	}
	order := slices.Clone(subjects)
	for range s.Rounds {
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, sub := range order {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := sub.round(s.Sample); err != nil {
				return nil, err
			}
		}
	}
	found := make([]Measurement, len(subjects))
	for i, sub := range subjects {
		found[i] = sub.result()
	}
	return found, nil
}

// chunk returns how many deliveries are prepared at a time: few enough to stay in the processor's cache.
func (s *subject) chunk() int { return min(max(512<<10/s.sender.Size(), 16), 256) }

// take returns the next deliveries. It makes a new receiver if the current one cannot get more events.
func (s *subject) take() []*Delivery {
	if s.receive == nil || s.row.Forgets > 0 && s.received+s.chunk()*s.payload.Events > s.row.Forgets {
		s.receive, s.received = s.row.New(), 0
	}
	return s.sender.Send(s.chunk())
}

func (s *subject) run(deliveries []*Delivery) error {
	for _, d := range deliveries {
		if _, err := s.receive(d); err != nil {
			return fmt.Errorf("%s, %s: %w", s.row.Name, s.payload.Name, err)
		}
	}
	s.received += len(deliveries) * s.payload.Events
	return nil
}

func (s *subject) round(sample time.Duration) error {
	if err := s.run(s.take()); err != nil { // fills pools and caches
		return err
	}
	deliveries := s.take()
	base, m := s.hmac.measure(deliveries, sample)
	runtime.GC()
	own, n, err := s.measure(deliveries, sample)
	if err != nil {
		return err
	}
	runtime.GC() // the baseline must not pay for the garbage of the row
	after, more := s.hmac.measure(deliveries, sample)
	base.add(after)
	wall, cpu := own.over(n, base, m+more)
	s.wall, s.cpu = append(s.wall, wall), append(s.cpu, cpu)
	return nil
}

// measure returns the time that the row takes for n deliveries, without the time to prepare them.
func (s *subject) measure(deliveries []*Delivery, sample time.Duration) (total spent, n int, err error) {
	for total.cpu < sample {
		if s.row.Forgets > 0 && n > 0 {
			deliveries = s.take()
		}
		since := clock()
		if err := s.run(deliveries); err != nil {
			return spent{}, 0, err
		}
		total.add(since())
		n += len(deliveries)
	}
	return total, n, nil
}

// countAllocations uses so many deliveries that refilling pools after a garbage collection has no visible effect.
func (s *subject) countAllocations() error {
	const enough = 512
	if err := s.run(s.take()); err != nil {
		return err
	}
	n := 0
	for n < enough {
		deliveries := s.take()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := s.run(deliveries); err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		s.found.Allocs += float64(after.Mallocs - before.Mallocs)
		s.found.Bytes += float64(after.TotalAlloc - before.TotalAlloc)
		n += len(deliveries)
	}
	s.found.Allocs /= float64(n)
	s.found.Bytes /= float64(n)
	return nil
}

func (s *subject) result() Measurement {
	slices.Sort(s.wall)
	slices.Sort(s.cpu)
	n := len(s.cpu)
	m := s.found
	m.Row, m.Payload = s.row, s.payload
	m.Wall, m.CPU = median(s.wall), median(s.cpu)
	m.Spread = (s.cpu[n*3/4] - s.cpu[n/4]) / 2 / m.CPU
	return m
}

// median returns the median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[n/2] + sorted[(n-1)/2]) / 2
}

// baseline is an HMAC-SHA256 over a timestamp, a full stop and the body, with reused state.
type baseline struct {
	mac    hash.Hash
	prefix []byte
	sum    []byte
}

func newBaseline() *baseline {
	return &baseline{mac: hmac.New(sha256.New, []byte(Secret)), prefix: []byte("1795176000."), sum: make([]byte, 0, sha256.Size)}
}

func (b *baseline) run(deliveries []*Delivery) {
	for _, d := range deliveries {
		b.mac.Reset()
		b.mac.Write(b.prefix)
		b.mac.Write(d.Body)
		b.sum = b.mac.Sum(b.sum[:0])
	}
}

// measure reads the clock as rarely as the measurement of the rows does, because reading it takes time too.
func (b *baseline) measure(deliveries []*Delivery, sample time.Duration) (total spent, n int) {
	b.run(deliveries)
	for total.cpu < sample {
		since := clock()
		for range 4 {
			b.run(deliveries)
			n += len(deliveries)
		}
		total.add(since())
	}
	return total, n
}
