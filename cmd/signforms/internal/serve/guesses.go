package serve

import (
	"context"
	"maps"
	"net/netip"
	"sync"
	"time"
)

// What wrong tokens cost.
const (
	freeGuesses  = 5                // of one address, without a delay
	guessEvery   = time.Second      // the answers to further ones, one after the other
	guessLongest = 10 * time.Second // an answer waits no longer, so that many connections cannot hold up each other without end
	guessForget  = time.Minute      // after the last one
	guessMost    = 10_000           // addresses; all further ones count as one
)

// guesses delays the answers to wrong tokens, by the address that they come from. It delays no right one: behind a proxy all senders
// have one address, and a stranger's guesses must not lock the owner out. So somebody who does not wait for answers is not slowed
// down: what protects the sandbox is a token that cannot be guessed.
type guesses struct {
	mu   sync.Mutex
	from map[netip.Prefix]guesser
}

type guesser struct {
	wrong int
	next  time.Time // when the last answer goes out
}

// wait returns when the answer to a wrong token may go out, or when ctx ends.
func (g *guesses) wait(ctx context.Context, remote string) {
	timer := time.NewTimer(g.delay(sender(remote), time.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (g *guesses) delay(from netip.Prefix, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := func(_ netip.Prefix, s guesser) bool { return now.Sub(s.next) > guessForget }
	if _, known := g.from[from]; !known && len(g.from) >= guessMost {
		maps.DeleteFunc(g.from, old)
		if len(g.from) >= guessMost {
			from = netip.Prefix{}
		}
	}
	s := g.from[from]
	if old(from, s) {
		s = guesser{}
	}
	s.wrong++
	if s.next.Before(now) {
		s.next = now
	}
	if s.wrong > freeGuesses {
		s.next = s.next.Add(guessEvery)
	}
	if latest := now.Add(guessLongest); s.next.After(latest) {
		s.next = latest
	}
	g.from[from] = s
	return s.next.Sub(now)
}

// sender returns the address of a request, or for IPv6 its network: who has one address of that has all.
func sender(remote string) netip.Prefix {
	address, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{} // of the network in memory
	}
	bits := 32
	if address.Addr().Unmap().Is6() {
		bits = 64
	}
	network, _ := address.Addr().Unmap().WithZone("").Prefix(bits) // the bits fit
	return network
}
