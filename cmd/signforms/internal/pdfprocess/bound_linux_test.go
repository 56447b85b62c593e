package pdfprocess_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdfprocess"
)

// TestBoundedBeforeItReads looks at the kernel's bounds of a process that has read a part of its job.
func TestBoundedBeforeItReads(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	memory := 240 * pdfprocess.Overhead
	cmd.Env = []string{fmt.Sprintf("%s=%d", pdfprocess.Variable, memory)}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = in.Write(bytes.Repeat([]byte(" "), 1<<20)) // more than a pipe holds, so the process has read some of it
	require.NoError(t, err)
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", cmd.Process.Pid))
	require.NoError(t, err)
	found := regexp.MustCompile(`Max data size +(\d+) `).FindSubmatch(limits)
	require.NotNil(t, found, string(limits))
	data, err := strconv.ParseUint(string(found[1]), 10, 64)
	require.NoError(t, err)
	require.Greater(t, data, uint64(memory)<<20, "what the runtime has at the start does not count")
	require.Less(t, data, uint64(memory+428*pdfprocess.Overhead)<<20)
	require.Regexp(t, regexp.MustCompile(`Max cpu time +10 +11 `), string(limits))
	require.Regexp(t, regexp.MustCompile(`Max address space +[0-9]`), string(limits))
	require.NoError(t, in.Close())
	require.Error(t, cmd.Wait(), "half a job is none")
}

// TestTheCallerNeedNotWait: the call ends with its context, and the process with it.
func TestTheCallerNeedNotWait(t *testing.T) {
	var before, after unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_CHILDREN, &before))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	original, err := pdf.Draw("Lease", nil)
	require.NoError(t, err)
	endless := []pdf.Mark{{Page: 1, Width: 1, Height: 1, Text: strings.Repeat("田 ", 2_000_000)}}
	_, err = pdfprocess.New().Stamp(ctx, original, endless)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, unix.Getrusage(unix.RUSAGE_CHILDREN, &after))
	require.Less(t, time.Duration(after.Utime.Nano()-before.Utime.Nano()), 8*time.Second, "it went on until its processor time was over")
}
