package redisstore_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/stores/redisstore"
)

// requireLimit uses a budget up, and gives a slot back.
func requireLimit(t *testing.T, store signforms.LimitStore, key string) {
	t.Helper()
	var last string
	for range 5 {
		slot, wait, err := store.Take(t.Context(), key, 5, time.Minute)
		require.NoError(t, err)
		require.Zero(t, wait)
		require.NotEmpty(t, slot)
		last = slot
	}
	slot, wait, err := store.Take(t.Context(), key, 5, time.Minute)
	require.NoError(t, err)
	require.Positive(t, wait)
	require.Empty(t, slot)
	require.NoError(t, store.Settle(t.Context(), key, last, 0))
	waits, err := store.Peek(t.Context(), key, 5)
	require.NoError(t, err)
	require.Zero(t, waits[0])
	require.Positive(t, waits[1])
}

// A restart with appendonly forgets nothing, and one without forgets all: then five more reminders go out, of which the
// service refuses what is too many, and its 429 blocks the budget.
func TestLimitStore_restartWithoutAppendOnly(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		setting  string
		accepted int
	}{{setting: "yes", accepted: 0}, {setting: "no", accepted: 1}} {
		t.Run(row.setting, func(t *testing.T) {
			redisServer := startRedis(t, "--appendonly", row.setting)
			service := signformstest.NewServer(t, nil)
			options := service.ClientOptions()
			options.LimitStore, options.MaxAttempts = redisstore.NewLimitStore(redisServer.client(t), ""), 1
			client, err := signforms.New(service.URL, service.APIKey, options)
			require.NoError(t, err)
			remind := func() error {
				document := service.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
				_, err := client.Documents.Remind(t.Context(), signforms.PDFDocument(document))
				return err
			}
			for range 5 {
				require.NoError(t, remind())
			}
			redisServer.kill()
			require.ErrorIs(t, remind(), signforms.ErrUnavailable)
			redisServer.start(t)
			for range 7 {
				require.ErrorIs(t, remind(), signforms.ErrRateLimited, "appendonly %s", row.setting)
			}
			refused := 0
			for _, r := range service.Requests() {
				if r.StatusCode == http.StatusTooManyRequests {
					refused++
				}
			}
			require.Equal(t, row.accepted, refused, "requests that the service refused, appendonly %s", row.setting)
		})
	}
}

// cluster is three masters, each with a third of the hash slots.
type cluster struct {
	nodes  []*server
	client *redis.ClusterClient
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{}
	var addrs []string
	for range 3 {
		bus := port(t, freeAddress(t))
		node := startRedis(t, "--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "1000")
		c.nodes, addrs = append(c.nodes, node), append(addrs, node.addr)
		first := c.nodes[0].client(t)
		if node != c.nodes[0] {
			require.NoError(t, first.Do(t.Context(), "CLUSTER", "MEET", "127.0.0.1", port(t, node.addr), bus).Err())
		}
	}
	for i, from := range []int{0, 5461, 10923} {
		to := []int{5460, 10922, 16383}[i]
		require.NoError(t, c.nodes[i].client(t).Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", from, to).Err())
	}
	c.client = redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, ContextTimeoutEnabled: true})
	t.Cleanup(func() { c.client.Close() })
	for _, node := range c.nodes {
		own := node.client(t)
		require.Eventually(t, func() bool {
			info, err := own.ClusterInfo(t.Context()).Result()
			return err == nil && containsLine(info, "cluster_state:ok") && containsLine(info, "cluster_known_nodes:3")
		}, 30*time.Second, 20*time.Millisecond, "the nodes have not found each other")
	}
	return c
}

func TestStores_clusterOfThreeNodes(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	store := redisstore.NewLimitStore(c.client, "")
	for n := range 12 { // names that fall to all three nodes
		requireLimit(t, store, fmt.Sprint("key ", n))
	}
	holding := 0
	for _, node := range c.nodes {
		size, err := node.client(t).DBSize(t.Context()).Result()
		require.NoError(t, err)
		if size > 0 {
			holding++
		}
	}
	require.Equal(t, 3, holding, "nodes with budgets")

	c.nodes[0].kill()
	alive, away := c.nodes[1].client(t), 0
	for n := range 12 {
		name := fmt.Sprint("another key ", n)
		hashSlot, err := alive.ClusterKeySlot(t.Context(), "signforms:limit:"+name).Result()
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		slot, _, err := store.Take(ctx, name, 5, time.Minute)
		cancel()
		if hashSlot <= 5460 {
			require.Error(t, err, "no other node takes over")
			require.Empty(t, slot)
			away++
		}
	}
	require.NotZero(t, away, "budgets of the node that is away")
}

func containsLine(text, line string) bool {
	for l := range strings.Lines(text) {
		if strings.TrimSpace(l) == line {
			return true
		}
	}
	return false
}
