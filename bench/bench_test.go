package bench

import (
	"testing"
)

// BenchmarkReceive has a benchmark for each row and payload, and for the HMAC over the same bytes. On a busy machine two
// of its lines cannot be compared; the program in run/ is for that.
func BenchmarkReceive(b *testing.B) {
	for _, kind := range Kinds() {
		b.Run(string(kind), func(b *testing.B) {
			for _, p := range Payloads() {
				b.Run(p.Name, func(b *testing.B) { benchmarkKind(b, kind, p) })
			}
		})
	}
}

func benchmarkKind(b *testing.B, kind Kind, p Payload) {
	for _, row := range Rows() {
		if row.Kind == kind {
			b.Run(row.Name, func(b *testing.B) { benchmarkRow(b, row, p) })
		}
	}
	b.Run("HMAC with reused state", func(b *testing.B) {
		s := &subject{row: Row{Sign: ourSign}, payload: p, sender: NewSender(Row{Sign: ourSign}, p), hmac: newBaseline()}
		deliveries := s.sender.Send(s.chunk())
		b.SetBytes(int64(s.sender.Size()))
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			s.hmac.run(deliveries[i%len(deliveries):][:1])
		}
	})
}

func benchmarkRow(b *testing.B, row Row, p Payload) {
	s := &subject{row: row, payload: p, sender: NewSender(row, p)}
	deliveries := s.take()
	b.SetBytes(int64(s.sender.Size()))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i == len(deliveries) {
			if i = 0; row.Forgets > 0 {
				b.StopTimer()
				deliveries = s.take()
				b.StartTimer()
			}
		}
		if err := s.run(deliveries[i : i+1]); err != nil {
			b.Fatal(err)
		}
	}
}
