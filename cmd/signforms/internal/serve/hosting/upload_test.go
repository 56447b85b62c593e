package hosting

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
)

// TestLargeBodiesTakeTurns: two large bodies are worked on at once. Small ones do not wait, and a slow client holds nobody up.
func TestLargeBodiesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		all, client := open(t, "", network)
		defer all.Close()
		server := all.first.server
		padded := func(body string) string { return body + strings.Repeat(" ", smallBody) }
		form := func(body string) (int, string) {
			return ask(t, client, "POST", server.URL+"/_/api/v1/forms", body)
		}
		const survey = `{"title":"Survey","fields":[{"question":"Why?"}]}`

		never, end := io.Pipe()
		for range 2 * maxUploads {
			go func() {
				slow, err := http.NewRequest("POST", server.URL+"/_/api/v1/forms", io.MultiReader(strings.NewReader(padded("")), never))
				if err == nil {
					slow.ContentLength = 2 * smallBody
					client.Do(slow)
				}
			}()
		}
		synctest.Wait()
		_, err := server.Fail(refserver.Fault{Operation: refserver.Send, Latency: time.Hour})
		require.NoError(t, err)
		begin := time.Now()
		for range maxUploads {
			go ask(t, client, "POST", server.URL+"/pdf-template-lambda", padded("{}"), "x-api-key", server.APIKey, "Content-Type", "application/json")
		}
		synctest.Wait()
		third := make(chan time.Duration)
		go func() {
			form(padded(survey))
			third <- time.Since(begin)
		}()
		synctest.Wait()
		require.Equal(t, http.StatusCreated, must(form(survey)))
		require.Zero(t, time.Since(begin))
		require.Len(t, server.Forms(), 1, "the large one waits")
		require.Equal(t, time.Hour, <-third)
		require.Len(t, server.Forms(), 2)
		end.Close()
	})
}

// TestUploadsLeaveNoFiles: what a body was kept in is gone with its request; where it cannot be kept, the answer says so.
func TestUploadsLeaveNoFiles(t *testing.T) {
	dir := t.TempDir()
	all, client := open(t, filepath.Join(dir, "sandbox.db"), nil)
	large := `{"title":"Survey","fields":[{"question":"Why?"}]}` + strings.Repeat(" ", smallBody)
	require.Equal(t, http.StatusCreated, must(ask(t, client, "POST", all.first.server.URL+"/_/api/v1/forms", large)))
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	require.NoError(t, err)
	require.Empty(t, left)

	all, client = open(t, "", nil)
	t.Setenv("TMPDIR", filepath.Join(dir, "nowhere"))
	status, text := ask(t, client, "POST", all.first.server.URL+"/_/api/v1/forms", large)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, text, "no such file or directory; nothing was changed")
}
