package endtoend_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// smallDisk mounts a small file system.
func smallDisk(t *testing.T, options string) (folder string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	folder = t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", folder, "tmpfs", 0, options))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(folder, 0)) })
	return folder
}

// On a full disk a change is refused with 503 and leaves no trace. Reads still work, and changes work again when there is room. A
// program that is killed and started again on the full disk has every acknowledged change.
func TestFullDisk(t *testing.T) {
	folder := smallDisk(t, "size=2m,mode=0700")
	s := start(t, "--data", filepath.Join(folder, "sandbox.db"))
	big := lease("Lease")
	for i := range 20 {
		big.Signers = append(big.Signers, refserver.Signer{Name: strings.Repeat("x", 1000), Email: fmt.Sprintf("x%d@example.com", i)})
	}
	acknowledged := 0
	var refused *wire.Error
	for refused == nil {
		err := s.client.Post(t.Context(), "/documents", big, nil)
		if err == nil {
			acknowledged++
		} else {
			require.True(t, errors.As(err, &refused), "%v", err)
		}
		require.Less(t, acknowledged, 1000)
	}
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	require.Equal(t, "storage", refused.Code)
	require.Equal(t, acknowledged, documents(t, s))

	require.NoError(t, syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_REMOUNT, "size=16m"))
	require.NoError(t, s.client.Post(t.Context(), "/documents", big, nil))
	s.kill(t)
	s = start(t, "--data", filepath.Join(folder, "sandbox.db"))
	require.Equal(t, acknowledged+1, documents(t, s))
}

func documents(t *testing.T, s *sandbox) int {
	t.Helper()
	var status wire.Status
	require.NoError(t, s.client.Get(t.Context(), "/status", nil, &status))
	return status.Documents
}

// The image holds only the program. It runs as the image's user, with the image's variables, in a root file system of which only
// /data can be written. The health check runs the same program.
func TestImage(t *testing.T) {
	root := smallDisk(t, "size=64m,mode=0755")
	content, err := os.ReadFile(binary)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "signforms"), content, 0o755))
	data := filepath.Join(root, "data")
	require.NoError(t, os.Mkdir(data, 0o700))
	require.NoError(t, syscall.Mount("tmpfs", data, "tmpfs", 0, "size=16m,mode=0700,uid=65532,gid=65532"))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(data, 0)) })
	require.NoError(t, syscall.Mount("tmpfs", root, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=64m"))

	image := readDockerfile(t)
	require.Equal(t, []string{"65532:65532"}, image["USER"])
	require.Equal(t, []string{`["/signforms"]`}, image["ENTRYPOINT"])
	require.Equal(t, []string{`["serve"]`}, image["CMD"])
	require.Contains(t, image["HEALTHCHECK"][0], `CMD ["/signforms", "ready"]`)
	inside := func(args ...string) *exec.Cmd {
		return &exec.Cmd{
			Path: "/signforms", Args: append([]string{"/signforms"}, args...), Dir: "/",
			Env:         append(strings.Fields(image["ENV"][0]), "SIGNFORMS_SANDBOX_ADDR=0.0.0.0:0", "SIGNFORMS_SANDBOX_JSON=true"),
			SysProcAttr: &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}},
		}
	}
	s, err := launch(t, inside("serve"))
	require.NoError(t, err)
	health := inside("ready")
	health.Env = append(health.Env, "SIGNFORMS_SANDBOX_URL="+s.Listening)
	output, err := health.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Equal(t, http.StatusOK, s.call(t, "GET", "/get-documents", nil, nil))
	var closed *wire.Error
	require.True(t, errors.As(s.client.Get(t.Context(), "/status", nil, nil), &closed))
	require.Equal(t, http.StatusForbidden, closed.Status)
	s.stop(t)
	left, err := filepath.Glob(filepath.Join(data, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(data, "sandbox.db")}, left)
}

// readDockerfile returns the values of the last stage, by instruction.
func readDockerfile(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	said := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if instruction == "FROM" {
			clear(said)
		}
		said[instruction] = append(said[instruction], strings.TrimSpace(rest))
	}
	return said
}
