package bench_test

import (
	"testing"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/bench"
	"github.com/stretchr/testify/require"
)

func newFixture(t testing.TB, documents int) *bench.Fixture {
	f, err := bench.NewFixture(documents)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

// Both clients have to get the same records before their times are compared.
func TestClientsGetTheSame(t *testing.T) {
	f := newFixture(t, 300)
	byHand, pages, err := f.Hand.List(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, 3, pages)
	page, err := f.SDK.Documents.List(t.Context(), signforms.DocumentListParams{Page: 2, Limit: 100})
	require.NoError(t, err)
	require.Len(t, page.Items, 100)
	require.Len(t, byHand, 100)
	for i, got := range page.Items {
		want := byHand[i]
		require.Equal(t, want.DocumentID, got.DocumentID)
		require.Equal(t, want.DocumentName, got.DocumentName)
		require.Equal(t, want.FinishedPDFURL, got.FinishedPDFURL)
		require.EqualValues(t, want.Status, got.Status)
		require.True(t, want.UpdatedAt.Equal(got.UpdatedAt), got.UpdatedAt)
		require.Len(t, got.Signers, len(want.Signers))
		for j, signer := range got.Signers {
			require.Equal(t, want.Signers[j].Email, signer.Email)
			require.Equal(t, want.Signers[j].SigningOrderNo, signer.SigningOrderNo)
		}
	}
}

// The client gets what is got by hand, so their times compare.
func TestCallsGetTheirRecords(t *testing.T) {
	one, list, err := bench.MeasureCalls(t.Context(), 1)
	require.NoError(t, err)
	require.Positive(t, one.Allocs)
	require.Positive(t, list.HandAllocs)
}

func TestServerRefusesAnotherKey(t *testing.T) {
	f := newFixture(t, 100)
	client, err := signforms.New(f.Hand.BaseURL, "another", nil)
	require.NoError(t, err)
	_, err = client.Documents.List(t.Context(), signforms.DocumentListParams{Page: 1, Limit: 100})
	require.ErrorIs(t, err, signforms.ErrForbidden)
}

// All of 100,000 documents pass through a few megabytes: two pages, and 16 bytes for each id that was seen.
func TestAllHoldsLittle(t *testing.T) {
	const documents = 100_000
	f := newFixture(t, documents)
	require.NoError(t, f.GetSDK(t.Context())) // opens a connection
	items, peak, err := bench.PeakHeap(f.SDK.Documents.All(t.Context(), signforms.DocumentListParams{}), 5_000)
	require.NoError(t, err)
	require.Equal(t, documents, items)
	t.Logf("at most %.1f MiB live above the start", float64(peak)/(1<<20))
	require.LessOrEqual(t, peak, int64(16<<20), "bytes live above the start")
	require.Greater(t, peak, int64(documents*16), "bytes live above the start; the ids alone take more")
}

func BenchmarkGet100(b *testing.B) {
	f := newFixture(b, 100)
	b.Run("signforms", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, f.GetSDK(b.Context()))
		}
	})
	b.Run("by hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, f.GetByHand(b.Context()))
		}
	})
}

// BenchmarkAll100000 reports besides how much memory was live, at most, above the start.
func BenchmarkAll100000(b *testing.B) {
	f := newFixture(b, 100_000)
	b.Run("signforms", func(b *testing.B) {
		for b.Loop() {
			items := 0
			for _, err := range f.SDK.Documents.All(b.Context(), signforms.DocumentListParams{}) {
				require.NoError(b, err)
				items++
			}
			require.Equal(b, 100_000, items)
		}
		_, peak, err := bench.PeakHeap(f.SDK.Documents.All(b.Context(), signforms.DocumentListParams{}), 5_000)
		require.NoError(b, err)
		b.ReportMetric(float64(peak), "live-B")
	})
	b.Run("by hand", func(b *testing.B) {
		for b.Loop() {
			items := 0
			for _, err := range f.Hand.All(b.Context()) {
				require.NoError(b, err)
				items++
			}
			require.Equal(b, 100_000, items)
		}
		_, peak, err := bench.PeakHeap(f.Hand.All(b.Context()), 5_000)
		require.NoError(b, err)
		b.ReportMetric(float64(peak), "live-B")
	})
}

func TestMeasureTelemetry(t *testing.T) {
	found, err := bench.MeasureTelemetry(t.Context(), 1)
	require.NoError(t, err)
	require.Len(t, found, 4)
	for _, m := range found {
		require.Positive(t, m.CPU, m.Name)
	}
}
