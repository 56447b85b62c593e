// Command run measures the rows of package bench and prints them as Markdown tables of ratios.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/bench"
)

func main() {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 21, "how often everything is measured; the median counts")
	flag.DurationVar(&s.sample, "sample", 10*time.Millisecond, "CPU time of one measurement of a webhook row")
	flag.StringVar(&s.only, "only", "", "regular expression: measure only the webhook rows whose names match")
	flag.BoolVar(&s.webhook, "webhook", true, "measure receivers of webhooks")
	flag.BoolVar(&s.client, "client", true, "measure calls of the client")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type settings struct {
	rounds          int
	sample          time.Duration
	only            string
	webhook, client bool
}

func (s settings) run(ctx context.Context) error {
	fmt.Printf("%s, %s %s/%s, %d processors, %d rounds.\n",
		time.Now().Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), s.rounds)
	if s.webhook {
		if err := s.runWebhook(ctx); err != nil {
			return err
		}
	}
	if s.client {
		return s.runClient(ctx)
	}
	return nil
}

func (s settings) runWebhook(ctx context.Context) error {
	match, err := regexp.Compile(s.only)
	if err != nil {
		return err
	}
	var rows []bench.Row
	for _, row := range bench.Rows() {
		if match.MatchString(row.Name) {
			rows = append(rows, row)
		}
	}
	found, err := bench.Measure(ctx, rows, bench.Payloads(), bench.Settings{Rounds: s.rounds, Sample: s.sample})
	if err != nil {
		return err
	}
	webhookTables(os.Stdout, found)
	return nil
}

const allDocuments = 100_000

func (s settings) runClient(ctx context.Context) error {
	get, err := bench.MeasureGet(ctx, s.rounds, 100)
	if err != nil {
		return err
	}
	all, err := bench.MeasureAll(ctx, min(s.rounds, 7), allDocuments)
	if err != nil {
		return err
	}
	f, err := bench.NewFixture(allDocuments)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.GetSDK(ctx); err != nil { // opens a connection, so that its memory is not counted
		return err
	}
	_, peak, err := bench.PeakHeap(f.SDK.Documents.All(ctx, signforms.DocumentListParams{}), 1_000)
	if err != nil {
		return err
	}
	_, peakByHand, err := bench.PeakHeap(f.Hand.All(ctx), 1_000)
	if err != nil {
		return err
	}
	costs, err := bench.MeasureClients(ctx, min(s.rounds, 10))
	if err != nil {
		return err
	}
	costTable(os.Stdout, costs)
	clientTable(os.Stdout, []bench.ClientMeasurement{get, all})
	fmt.Printf("\nAll of %d documents: at most %.1f MiB live above the start by Documents.All, %.1f MiB by hand.\n",
		allDocuments, mebibytes(peak), mebibytes(peakByHand))
	return nil
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
