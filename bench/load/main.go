// Command load measures receivers of webhooks under load, over loopback: our handler with its default options, a handler that only
// reads the body, and a receiver for Node.js that verifies as the service documents it. It prints requests per second and CPU time
// per request as ratios.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"time"

	"github.com/signforms/signforms-go/bench"
)

func main() {
	serve := flag.String("serve", "", "be the receiver of this name (the program starts itself so)")
	var s settings
	flag.IntVar(&s.requests, "requests", 10_000, "requests in a round; at most 64 MB and 60,000 events")
	flag.IntVar(&s.connections, "connections", 4, "connections kept open at a time")
	flag.IntVar(&s.rounds, "rounds", 5, "how often each receiver is measured; the median counts")
	flag.IntVar(&s.procs, "procs", 1, "GOMAXPROCS of the Go receivers; Node.js runs JavaScript on one thread")
	flag.DurationVar(&s.limit, "limit", 30*time.Second, "the most a round may take")
	only := flag.String("only", "", "regular expression: send only the payloads whose names match")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch s.only, err = regexp.Compile(*only); {
	case err != nil:
	case *serve != "":
		err = serveUntilStdinEnds(*serve)
	default:
		err = s.run(ctx, bench.Payloads())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
