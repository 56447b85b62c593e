package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/signforms/signforms-go/bench"
)

type settings struct {
	requests, connections, rounds, procs int
	limit                                time.Duration
	only                                 *regexp.Regexp
}

// contender is a receiver to be measured.
type contender struct {
	name    string
	command func() *exec.Cmd
}

// figures are the results of one receiver in one round.
type figures struct {
	perSecond float64
	cpu       float64 // seconds per request
}

func (s settings) run(ctx context.Context, payloads []bench.Payload) error {
	contenders := []contender{{"handler that only reads the body", s.self(bare)}, {"**signforms Handler**", s.self(ours)}}
	node, err := installNode(ctx)
	switch {
	case err != nil:
		return err
	case node == nil:
		fmt.Fprintln(os.Stderr, "no node on PATH: the receiver for Node.js is left out")
	default:
		defer node.remove()
		contenders = append(contenders, contender{node.name(), node.command})
	}
	fmt.Printf("%s, %s %s/%s, %d processors, GOMAXPROCS %d, %d connections, %d rounds.\n", time.Now().Format(time.DateOnly),
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), s.procs, s.connections, s.rounds)
	for _, p := range payloads {
		if !s.only.MatchString(p.Name) {
			continue
		}
		if err := s.payload(ctx, p, contenders); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

func (s settings) self(name string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-serve", name)
		cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(s.procs))
		return cmd
	}
}

// payload measures all contenders in each round and prints a table. A receiver is started again for each round. It is warmed up with
// a third as many requests.
func (s settings) payload(ctx context.Context, p bench.Payload, contenders []contender) error {
	n := min(s.requests, 60_000/p.Events, 64<<20/len(p.JSON)) // the replay store holds 100,000 events
	deliveries, err := requests(p, n+n/3)
	if err != nil {
		return err
	}
	found := make([][]figures, len(contenders))
	for range s.rounds {
		for i, c := range contenders {
			f, err := s.round(ctx, c, deliveries, n)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			found[i] = append(found[i], f)
		}
	}
	fmt.Printf("\n| %s, %d requests | requests per second | CPU time per request |\n|---|---|---|\n", p.Name, n)
	for i, c := range contenders {
		fmt.Printf("| %s | %.2f | %.2f |\n", c.name,
			medianRatio(found[i], found[0], func(f figures) float64 { return f.perSecond }),
			medianRatio(found[i], found[0], func(f figures) float64 { return f.cpu }))
	}
	return nil
}

func (s settings) round(ctx context.Context, c contender, deliveries [][]byte, n int) (figures, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	p, err := start(ctx, c.command())
	if err != nil {
		return figures{}, err
	}
	defer p.stop()
	if _, err := send(ctx, p.address, deliveries[n:], s.connections); err != nil {
		return figures{}, err
	}
	before, err := p.cpu(ctx)
	if err != nil {
		return figures{}, err
	}
	took, err := send(ctx, p.address, deliveries[:n], s.connections)
	if err != nil {
		return figures{}, err
	}
	after, err := p.cpu(ctx)
	if err != nil {
		return figures{}, err
	}
	return figures{perSecond: float64(n) / took.Seconds(), cpu: (after - before).Seconds() / float64(n)}, nil
}

// medianRatio returns the median of the ratios of the rounds.
func medianRatio(own, base []figures, of func(figures) float64) float64 {
	ratios := make([]float64, len(own))
	for i := range own {
		ratios[i] = of(own[i]) / of(base[i])
	}
	slices.Sort(ratios)
	return (ratios[len(ratios)/2] + ratios[(len(ratios)-1)/2]) / 2
}
