package endtoend_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestDay_timeZones lists documents from a day on, in a file system that has nothing but the program, as an image from
// scratch has. A time zone that cannot be loaded is refused, because the day would begin at another time.
func TestDay_timeZones(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can change the root of the file system")
	}
	s := start(t, "--memory")
	root := t.TempDir()
	program, err := os.ReadFile(binary)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "signforms"), program, 0o755))
	for _, c := range []struct{ name, zone, from, says string }{
		{name: "no zone", from: "2026-11-01T00:00:00.000Z"},
		{name: "UTC", zone: "TZ=UTC", from: "2026-11-01T00:00:00.000Z"},
		{name: "empty", zone: "TZ=", from: "2026-11-01T00:00:00.000Z"},
		{name: "Tokyo", zone: "TZ=Asia/Tokyo", from: "2026-10-31T15:00:00.000Z"},
		{name: "with a colon", zone: "TZ=:Asia/Tokyo", from: "2026-10-31T15:00:00.000Z"},
		{name: "typo", zone: "TZ=Asia/Tokio", says: `the time zone "Asia/Tokio" of TZ cannot be loaded`},
		{name: "rule of POSIX", zone: "TZ=JST-9", says: `the time zone "JST-9" of TZ cannot be loaded`},
		{name: "missing file", zone: "TZ=/usr/share/zoneinfo/Asia/Tokyo", says: "cannot be loaded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := exec.CommandContext(t.Context(), "/signforms", "documents", "list", "--from", "2026-11-01")
			list.Dir, list.SysProcAttr = "/", &syscall.SysProcAttr{Chroot: root}
			list.Env = []string{"SIGNFORMS_BASE_URL=" + s.BaseURL, "SIGNFORMS_API_KEY=" + s.APIKey}
			if c.zone != "" {
				list.Env = append(list.Env, c.zone)
			}
			out, err := list.CombinedOutput()
			if c.says != "" {
				require.ErrorContains(t, err, "exit status 2")
				require.Contains(t, string(out), c.says)
				return
			}
			require.NoError(t, err, string(out))
			var requests wire.Page[refserver.Request]
			require.NoError(t, s.client.Get(t.Context(), "/requests", nil, &requests))
			require.Equal(t, c.from, requests.Items[0].Query.Get("dateFrom"))
		})
	}
}
