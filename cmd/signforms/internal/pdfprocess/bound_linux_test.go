package pdfprocess_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

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
	require.Regexp(t, regexp.MustCompile(fmt.Sprintf(`Max data size +%d `, memory<<20)), string(limits))
	require.Regexp(t, regexp.MustCompile(`Max cpu time +10 +11 `), string(limits))
	require.Regexp(t, regexp.MustCompile(`Max address space +[0-9]`), string(limits))
	require.NoError(t, in.Close())
	require.Error(t, cmd.Wait(), "half a job is none")
}
