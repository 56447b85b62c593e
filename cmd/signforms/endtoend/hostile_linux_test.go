package endtoend_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

var hostile = flag.Bool("hostile", false, "upload the hostile files too")

// TestHostileFiles uploads files that unpack to gigabytes, loop, nest and lie, and signs what is taken. Each process may have 1 GB of address
// space, which is enough for builds without cgo, such as TestMain's. The sandbox answers throughout, and its own memory grows little.
// After a kill it starts again.
func TestHostileFiles(t *testing.T) {
	if !*hostile {
		t.Skip("it takes minutes: say -hostile, as .ci/nightly does")
	}
	data := filepath.Join(t.TempDir(), "sandbox.db")
	within := func() *exec.Cmd {
		return exec.Command("sh", "-c", `ulimit -v 1048576; exec "$0" "$@"`, binary, "serve", "--addr", "127.0.0.1:0", "--json", "--data", data)
	}
	s, err := launch(t, within())
	require.NoError(t, err)
	before := resident(t, s, "VmRSS")
	stop := answersThroughout(t, s)
	var taken []string
	files, err := filepath.Glob("../internal/pdfprocess/testdata/hostile/*")
	require.NoError(t, err)
	require.Len(t, files, 20)
	for _, name := range files {
		began := time.Now()
		id, refusal := upload(t, s, name)
		if refusal == nil {
			taken = append(taken, id)
		}
		t.Logf("%-42s %6v %v", filepath.Base(name), time.Since(began).Round(time.Millisecond), refusal)
	}
	most := resident(t, s, "VmHWM")
	require.NotZero(t, stop())
	s.kill(t)

	s, err = launch(t, within())
	require.NoError(t, err)
	stop = answersThroughout(t, s)
	made := map[int]int{}
	for _, id := range taken {
		resp, err := http.Get(s.Listening + "/finished/" + id + ".pdf")
		require.NoError(t, err)
		resp.Body.Close()
		made[resp.StatusCode]++
	}
	stop()
	t.Logf("taken %d, finished %v; resident %d MB at the start, at most %d MB, after the kill %d MB",
		len(taken), made, before>>20, most>>20, resident(t, s, "VmHWM")>>20)
	require.Equal(t, len(taken), made[http.StatusOK]+made[http.StatusServiceUnavailable])
	require.NotZero(t, made[http.StatusOK])
}

// upload adds a document with the file and signs it, or returns why the sandbox has refused the file.
func upload(t *testing.T, s *sandbox, name string) (id string, refusal *wire.Error) {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	d := lease(filepath.Base(name))
	signature := wire.Signature{Signer: "ann@example.com"}
	if filepath.Ext(name) == ".png" {
		d.Fields = []refserver.TemplateField{{Name: "Sign", Role: "ann@example.com", Kind: "signature", Page: 1, Width: 0.5, Height: 0.1}}
		signature.Fields = []refserver.FieldValue{{Name: "Sign", Image: content}}
	} else {
		d.PDF = content
	}
	var made wire.ID
	err = s.client.Post(t.Context(), "/documents", d, &made)
	if err == nil {
		err = s.client.Post(t.Context(), "/documents/"+made.ID+"/sign", signature, nil)
	}
	if err != nil {
		require.True(t, errors.As(err, &refusal), "%s: %v", name, err)
		require.Equal(t, http.StatusUnprocessableEntity, refusal.Status, "%s: %v", name, err)
	}
	return made.ID, refusal
}

// answersThroughout asks the sandbox for its status until stop is called, which returns how often it has answered. Each answer must come
// within 5 seconds. It fails the test when the memory of the sandbox has grown by 200 MB.
func answersThroughout(t *testing.T, s *sandbox) (stop func() int) {
	t.Helper()
	before, answers := resident(t, s, "VmRSS"), 0
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		for ctx.Err() == nil {
			within, end := context.WithTimeout(ctx, 5*time.Second)
			err := s.client.Get(within, "/status", nil, nil)
			end()
			if ctx.Err() != nil {
				return
			}
			if !assert.NoError(t, err, "after %d answers: %s", answers, s.stderr) || !assert.Less(t, resident(t, s, "VmHWM"), before+200<<20) {
				return
			}
			answers++
		}
	})
	return func() int {
		cancel()
		asking.Wait()
		return answers
	}
}

// resident returns a figure of the process's memory in bytes, as Linux reports it: VmRSS now, VmHWM at most since its start.
func resident(t *testing.T, s *sandbox, figure string) (bytes int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, figure+":"); found {
			_, err := fmt.Sscan(rest, &bytes)
			require.NoError(t, err)
		}
	}
	return bytes << 10
}
