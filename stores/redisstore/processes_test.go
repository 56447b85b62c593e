package redisstore_test

import (
	"context"
	"flag"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/stores/redisstore"
)

// Processes of the operating system share one API key here, with a window shortened on both sides: in the service by its
// options, in the clients by a store that hurries.
const (
	hurry          = 300
	window         = 15 * time.Minute / hurry // 3 s
	attemptTimeout = 4 * time.Second          // is real
)

// hurried is a store whose time is 300 times as fast as the SDK thinks, but for the part of a hold that the attempt takes.
type hurried struct{ signforms.LimitStore }

func (s *hurried) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	return s.LimitStore.Take(ctx, key, limit, attemptTimeout+(hold-attemptTimeout)/hurry)
}

func (s *hurried) Settle(ctx context.Context, key, slot string, keep time.Duration) error {
	return s.LimitStore.Settle(ctx, key, slot, keep/hurry)
}

func (s *hurried) Block(ctx context.Context, key string, d time.Duration) error {
	return s.LimitStore.Block(ctx, key, d/hurry)
}

func TestMain(m *testing.M) {
	if redisAddr := os.Getenv("REMINDING_REDIS"); redisAddr != "" {
		remindForEver(redisAddr, os.Getenv("REMINDING_URL"), os.Getenv("REMINDING_KEY"), os.Getenv("REMINDING_DOCUMENT"))
	}
	flag.Set("test.parallel", "8") // they wait for time to pass, and compute little
	os.Exit(m.Run())
}

// remindForEver is what another process does: eight goroutines remind until the test closes its standard input or ends.
func remindForEver(redisAddr, url, key, document string) {
	store := redisstore.NewLimitStore(redis.NewClient(&redis.Options{Addr: redisAddr, ContextTimeoutEnabled: true}), "")
	client, err := signforms.New(url, key, &signforms.Options{
		LimitStore: &hurried{store}, ReminderMaxWait: -1, AttemptTimeout: attemptTimeout,
	})
	if err != nil {
		panic(err)
	}
	for range 8 {
		go func() {
			for {
				if _, err := client.Documents.Remind(context.Background(), signforms.PDFDocument(document)); err != nil {
					time.Sleep(50 * time.Millisecond)
				}
			}
		}()
	}
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// company is a service, a Redis and processes that remind.
type company struct {
	*testing.T
	redis    *server
	service  *signformstest.Server
	document string
}

func newCompany(t *testing.T) *company {
	t.Helper()
	c := &company{T: t, redis: startRedis(t)}
	c.service = signformstest.NewServer(t, &signformstest.Options{ReminderLimit: signformstest.ReminderLimit{Window: window}})
	c.document = c.service.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	return c
}

// start starts a process. It ends with the test at the latest.
func (c *company) start() *exec.Cmd {
	c.Helper()
	self, err := os.Executable()
	require.NoError(c, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "REMINDING_REDIS="+c.redis.addr, "REMINDING_URL="+c.service.URL,
		"REMINDING_KEY="+c.service.APIKey, "REMINDING_DOCUMENT="+c.document)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // closes when this process dies
	require.NoError(c, err)
	require.NoError(c, cmd.Start())
	c.Cleanup(func() {
		stdin.Close()
		kill(cmd)
	})
	return cmd
}

// kill ends a process as kill -9 does.
func kill(cmd *exec.Cmd) {
	cmd.Process.Kill()
	cmd.Wait()
}

// arrivals checks the service's record and returns when reminders arrived.
func (c *company) arrivals() []time.Time {
	c.Helper()
	var at []time.Time
	for _, r := range c.service.Requests() {
		require.NotEqual(c, http.StatusTooManyRequests, r.StatusCode, "the service refused: %s", r)
		at = append(at, r.At)
	}
	slices.SortFunc(at, time.Time.Compare) // the record is in the order of answers
	for i := 5; i < len(at); i++ {
		require.Greater(c, at[i].Sub(at[i-5]), window, "between arrival %d, %v, and five later", i-5, at[i-5])
	}
	return at
}

// wait waits until n requests were answered.
func (c *company) wait(n int) {
	c.Helper()
	require.Eventually(c, func() bool { return len(c.service.Requests()) >= n }, time.Minute, 10*time.Millisecond, "%d requests", n)
}

func TestLimitStore_fourProcesses(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	for range 4 {
		c.start()
	}
	c.wait(25)
	c.arrivals()
}

func TestLimitStore_deadProcess(t *testing.T) {
	t.Parallel()
	const latency = attemptTimeout - time.Second/2
	c := newCompany(t)
	remove := c.service.Fail(signformstest.Fault{Latency: latency})
	victim := c.start()
	store := c.redis.client(t)
	require.Eventually(t, func() bool {
		keys := store.Keys(t.Context(), "signforms:limit:*").Val()
		return len(keys) == 1 && store.ZCard(t.Context(), keys[0]).Val() == 5
	}, 20*time.Second, time.Millisecond, "five slots taken")
	time.Sleep(300 * time.Millisecond)
	require.Empty(t, c.service.Requests(), "requests that were answered: all are under way")
	kill(victim)
	remove()
	for range 3 {
		c.start()
	}
	c.wait(20) // so the dead one's slots came back
	at := c.arrivals()
	require.Greater(t, at[5].Sub(at[4]), attemptTimeout+window-latency, "from the last of the dead one's to the first of another's")
}

func TestLimitStore_restartOfRedis(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	for range 4 {
		c.start()
	}
	c.wait(7)
	for range 3 {
		c.redis.kill()
		gone := c.service.Now()
		time.Sleep(time.Second + rand.N(2*window))
		back := c.service.Now()
		c.redis.start(t)
		for _, at := range c.arrivals() {
			require.False(t, at.After(gone.Add(time.Second)) && at.Before(back), "a reminder arrived while Redis was away")
		}
		c.wait(len(c.service.Requests()) + 7)
	}
	c.arrivals()
}
