package redisstore_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/limitstoretest"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/stores/redisstore"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/replaystoretest"
)

func TestLimitStore(t *testing.T) {
	t.Parallel()
	client, prefix := startRedis(t).client(t), prefixes()
	limitstoretest.Run(t, func(*testing.T) (signforms.LimitStore, func(time.Duration)) {
		return redisstore.NewLimitStore(client, prefix()), time.Sleep
	})
}

func TestReplayStore(t *testing.T) {
	t.Parallel()
	client, prefix := startRedis(t).client(t), prefixes()
	replaystoretest.Run(t, func(*testing.T) (webhook.ReplayStore, func(time.Duration)) {
		return redisstore.NewReplayStore(client, prefix()), time.Sleep
	})
}

func TestStores_keysExpire(t *testing.T) {
	t.Parallel()
	const s, minute = time.Second, time.Minute
	ctx, client := t.Context(), startRedis(t).client(t)
	limits, replays := redisstore.NewLimitStore(client, ""), redisstore.NewReplayStore(client, "")
	slot, _, err := limits.Take(ctx, "k", 5, minute)
	require.NoError(t, err)
	requireExpiry(t, client, "signforms:limit:*", minute-10*s, minute)
	require.NoError(t, limits.Block(ctx, "k", 2*minute))
	requireExpiry(t, client, "signforms:limit:*", 2*minute-10*s, 2*minute)
	require.NoError(t, limits.Settle(ctx, "k", slot, 60*minute))
	requireExpiry(t, client, "signforms:limit:*", 60*minute-10*s, 60*minute)
	require.NoError(t, limits.Settle(ctx, "k", slot, s))
	requireExpiry(t, client, "signforms:limit:*", minute, 2*minute)

	slot, _, err = limits.Take(ctx, "soon over", 5, minute)
	require.NoError(t, err)
	require.NoError(t, limits.Settle(ctx, "soon over", slot, s))
	for n := range byte(2) {
		_, err = replays.Begin(ctx, webhook.ReplayKey{n}, 5*s)
		require.NoError(t, err)
	}
	require.NoError(t, replays.Done(ctx, webhook.ReplayKey{1}, 6*s))
	requireExpiry(t, client, "signforms:replay:*", 1, 6*s)
	time.Sleep(6*s + s/10)
	left, err := client.Keys(ctx, "*").Result()
	require.NoError(t, err)
	require.Equal(t, []string{"signforms:limit:k"}, left)
}

// Lua prints numbers of that size without their last digits.
func TestLimitStore_exactTimes(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), startRedis(t).client(t)
	store, exact := redisstore.NewLimitStore(client, ""), 0
	for range 50 {
		slot, _, err := store.Take(ctx, "k", 50, time.Minute)
		require.NoError(t, err)
		until, err := client.ZScore(ctx, "signforms:limit:k", slot).Result()
		require.NoError(t, err)
		if int64(until)%100 != 0 {
			exact++
		}
	}
	require.Greater(t, exact, 40, "of 50 times that have microseconds")
}

// Members that are over do not pile up in a key that is in use.
func TestLimitStore_busyKeyDoesNotGrow(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), startRedis(t).client(t)
	store := redisstore.NewLimitStore(client, "")
	for range 200 {
		_, wait, err := store.Take(ctx, "k", 5, 2*time.Millisecond)
		require.NoError(t, err)
		time.Sleep(wait)
	}
	members, err := client.ZCard(ctx, "signforms:limit:k").Result()
	require.NoError(t, err)
	require.LessOrEqual(t, members, int64(5))
}

// deafConn loses the first answer to a script that has run.
type deafConn struct {
	net.Conn
	armed *atomic.Bool
	asked bool
}

func (c *deafConn) Write(b []byte) (int, error) {
	c.asked = strings.Contains(string(b), "evalsha") && c.armed.Load()
	return c.Conn.Write(b)
}

func (c *deafConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.asked && c.armed.CompareAndSwap(true, false) {
		c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

// go-redis repeats a command whose reply got lost. The command must take effect once.
func TestStores_repeatedCommands(t *testing.T) {
	t.Parallel()
	ctx, server := t.Context(), startRedis(t)
	var armed atomic.Bool
	client := redis.NewClient(&redis.Options{Addr: server.addr, Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		return &deafConn{Conn: conn, armed: &armed}, err
	}})
	defer client.Close()
	limits, replays := redisstore.NewLimitStore(client, ""), redisstore.NewReplayStore(client, "")
	_, _, err := limits.Take(ctx, "warm", 5, time.Minute) // so that the scripts are loaded
	require.NoError(t, err)
	_, err = replays.Begin(ctx, webhook.ReplayKey{9}, time.Minute)
	require.NoError(t, err)

	armed.Store(true)
	slot, wait, err := limits.Take(ctx, "k", 1, time.Minute)
	require.NoError(t, err)
	require.Zero(t, wait, "the only slot was taken by this call itself")
	require.False(t, armed.Load(), "an answer got lost")
	waits, err := limits.Peek(ctx, "k", 2)
	require.NoError(t, err)
	require.Zero(t, waits[0], "one slot is held, not two")
	require.NoError(t, limits.Settle(ctx, "k", slot, 0))

	armed.Store(true)
	state, err := replays.Begin(ctx, webhook.ReplayKey{1}, time.Minute)
	require.NoError(t, err)
	require.Equal(t, webhook.ReplayFresh, state)
	require.False(t, armed.Load(), "an answer got lost")
}

func TestLimitStore_redisUnavailable(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	srv := signformstest.NewServer(t, nil)
	doc := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	store := redisstore.NewLimitStore(server.client(t), "")
	c, err := signforms.New(srv.URL, srv.APIKey, &signforms.Options{LimitStore: store, ReminderMaxWait: -1})
	require.NoError(t, err)
	_, err = c.Documents.Remind(t.Context(), signforms.PDFDocument(doc))
	require.NoError(t, err)

	require.NoError(t, server.cmd.Process.Signal(syscall.SIGSTOP))
	start := time.Now()
	_, err = c.Documents.Remind(t.Context(), signforms.PDFDocument(doc))
	requireUnavailable(t, err)
	require.Less(t, time.Since(start), 8*time.Second)
	require.NoError(t, server.cmd.Process.Signal(syscall.SIGCONT))

	server.kill()
	_, err = c.Documents.Remind(t.Context(), signforms.PDFDocument(doc))
	requireUnavailable(t, err)
	_, err = c.Documents.ReminderBudget(t.Context())
	requireUnavailable(t, err)
	require.Len(t, srv.Requests(), 1)
}

// The commands that the package documentation lists are all that a user needs.
func TestStores_documentedRights(t *testing.T) {
	t.Parallel()
	ctx, server := t.Context(), startRedis(t)
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, list, found := strings.Cut(strings.ReplaceAll(string(text), "\n//", ""), "the commands ")
	require.True(t, found)
	list, _, _ = strings.Cut(list, ".")
	rule := []any{"ACL", "SETUSER", "reminder", "on", ">secret", "~signforms:*", "-@all"}
	for _, command := range regexp.MustCompile(`[A-Z]{3,}`).FindAllString(list, -1) {
		rule = append(rule, "+"+strings.ToLower(command))
	}
	require.NoError(t, server.client(t).Do(ctx, rule...).Err())
	client := redis.NewClient(&redis.Options{Addr: server.addr, Username: "reminder", Password: "secret"})
	defer client.Close()

	limits, replays := redisstore.NewLimitStore(client, ""), redisstore.NewReplayStore(client, "")
	slot, _, err := limits.Take(ctx, "k", 5, time.Minute)
	require.NoError(t, err)
	require.NoError(t, limits.Block(ctx, "k", time.Minute))
	require.NoError(t, limits.Settle(ctx, "k", slot, time.Minute))
	require.NoError(t, limits.Settle(ctx, "k", slot, 0))
	_, err = limits.Peek(ctx, "k", 5)
	require.NoError(t, err)
	_, err = replays.Begin(ctx, webhook.ReplayKey{}, time.Minute)
	require.NoError(t, err)
	require.NoError(t, replays.Abort(ctx, webhook.ReplayKey{}))
	require.NoError(t, replays.Done(ctx, webhook.ReplayKey{}, time.Minute))
}

func requireUnavailable(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, signforms.ErrUnavailable)
	var e *signforms.Error
	require.True(t, errors.As(err, &e) && e.Attempts == 0, "%v: no attempt", err)
}
