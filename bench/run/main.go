// Command run measures the rows of package bench and prints them as Markdown tables of ratios.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"time"

	"github.com/signforms/signforms-go/bench"
)

func main() {
	rounds := flag.Int("rounds", 21, "how often each row is measured; the median counts")
	sample := flag.Duration("sample", 10*time.Millisecond, "CPU time of one measurement")
	only := flag.String("only", "", "measure only the webhook rows whose name matches this regular expression; -only client leaves them all out")
	flag.Parse()
	if err := run(*rounds, *sample, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(rounds int, sample time.Duration, only string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	var rows []bench.Row
	for _, row := range bench.Rows() {
		if match.MatchString(row.Name) {
			rows = append(rows, row)
		}
	}
	fmt.Printf("%s, %s %s/%s, %d processors, %d rounds.\n", time.Now().Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), rounds)
	found, err := bench.Measure(rows, bench.Payloads(), bench.Settings{Rounds: rounds, Sample: sample})
	if err != nil {
		return err
	}
	webhookTables(os.Stdout, found)
	return nil
}
