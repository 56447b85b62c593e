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
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/bench"
	"github.com/signforms/signforms-go/bench/durable"
)

func main() {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 21, "how often everything is measured; the median counts")
	flag.DurationVar(&s.sample, "sample", 10*time.Millisecond, "CPU time of one measurement of a webhook row")
	flag.StringVar(&s.only, "only", "", "regular expression: measure only the webhook rows whose names match")
	flag.StringVar(&s.tables, "tables", "webhook,client,telemetry,durable", "what to measure: receivers of webhooks, calls of the client, what module otel adds, durable receiving")
	flag.StringVar(&s.dir, "dir", "", "folder for the databases of durable receiving, on the disk to measure; empty: a temporary one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type settings struct {
	rounds      int
	sample      time.Duration
	only        string
	tables, dir string
}

func (s settings) run(ctx context.Context) error {
	fmt.Printf("%s, %s %s/%s, %d processors, %d rounds.\n",
		time.Now().Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), s.rounds)
	for table := range strings.SplitSeq(s.tables, ",") {
		var err error
		switch table {
		case "webhook":
			err = s.runWebhook(ctx)
		case "client":
			err = s.runClient(ctx)
		case "telemetry":
			err = s.runTelemetry(ctx)
		case "durable":
			err = durable.Report(ctx, os.Stdout, durable.Settings{Rounds: min(s.rounds, 5), Round: time.Second, Dir: s.dir})
		default:
			err = fmt.Errorf("-tables: no table %q; there are webhook, client, telemetry and durable", table)
		}
		if err != nil {
			return err
		}
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

func (s settings) runTelemetry(ctx context.Context) error {
	found, err := bench.MeasureTelemetry(ctx, s.rounds)
	if err == nil {
		telemetryTable(os.Stdout, found)
	}
	return err
}

const allDocuments = 100_000

func (s settings) runClient(ctx context.Context) error {
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
	one, list, err := bench.MeasureCalls(ctx, s.rounds)
	if err != nil {
		return err
	}
	clientTable(os.Stdout, []bench.CallCost{one, list}, []bench.ClientMeasurement{all})
	fmt.Printf("\nAll of %d documents: at most %.1f MiB live above the start by Documents.All, %.1f MiB by hand.\n",
		allDocuments, mebibytes(peak), mebibytes(peakByHand))
	return nil
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
