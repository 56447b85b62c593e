package queue_test

import (
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

var powerCuts = flag.Int("queue.cuts", 5, "how often TestReceive_powerCut cuts the power")

// volume is an ext4 file system in a file of the machine's own. Writes that were not synced are not in the file.
type volume struct{ image, dir string }

// asRoot runs a command as root, with sudo where the tests are somebody else's.
func asRoot(name string, args ...string) ([]byte, error) {
	if os.Geteuid() != 0 {
		args, name = append([]string{"-n", name}, args...), "sudo"
	}
	return exec.Command(name, args...).CombinedOutput()
}

// newVolume makes a file system of that size. Where the tests may not mount one they are skipped, but not in .ci/run.
func newVolume(t *testing.T, size int64) *volume {
	t.Helper()
	v := &volume{image: filepath.Join(t.TempDir(), "image"), dir: t.TempDir()}
	f, err := os.Create(v.image)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(size))
	require.NoError(t, f.Close())
	out, err := exec.Command("mkfs.ext4", "-q", "-m", "0", v.image).CombinedOutput()
	if err == nil {
		out, err = v.mount()
	}
	if err != nil && os.Getenv("CI_RUN_BOUNDED") == "" {
		t.Skipf("no file system can be mounted here, so nothing was tested: %v: %s", err, out)
	}
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { asRoot("umount", v.dir) })
	return v
}

// mount mounts the image so that the kernel writes nothing by itself for a while.
func (v *volume) mount() ([]byte, error) {
	if out, err := asRoot("mount", "-o", "loop,commit=300", v.image, v.dir); err != nil {
		return out, err
	}
	return asRoot("chown", strconv.Itoa(os.Getuid()), v.dir)
}

// afterPowerCut returns the volume as it is found after a power cut now. The image is copied while
// it is mounted: what is in the kernel's memory only is not in it.
func (v *volume) afterPowerCut(t *testing.T) *volume {
	t.Helper()
	cut := &volume{image: filepath.Join(t.TempDir(), "image"), dir: t.TempDir()}
	out, err := exec.Command("cp", "--sparse=always", v.image, cut.image).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = cut.mount()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { asRoot("umount", cut.dir) })
	return cut
}

func (v *volume) file() where { return where(filepath.Join(v.dir, "events.db")) }

// lostInPowerCuts counts the events that were answered 200 and are gone after the power was cut. In
// each ordering key, the processed events must be before the others.
func lostInPowerCuts(t *testing.T, role string) (acked, lost int) {
	for range *powerCuts {
		v := newVolume(t, 64<<20)
		s := stage{T: t, where: v.file()}
		c := s.start(role, filepath.Join(t.TempDir(), "journal"))
		d := newSenders(s, 8, 25)
		d.aim(c.addr)
		require.Eventually(t, func() bool { return d.count.Load() > 300 }, time.Minute, time.Millisecond)
		c.kill()
		answered := d.end()
		cut := stage{T: t, where: v.afterPowerCut(t).file()}
		there := map[string]int{}
		q := cut.queue(nil)
		waits := map[string]bool{}
		for _, e := range cut.list(q, queue.Filter{}) {
			there[e.Subject]++
			waits[e.Subject] = waits[e.Subject] || e.State == queue.Pending
			require.NotEqual(t, waits[e.Subject], e.State == queue.Done)
		}
		for key, n := range answered {
			acked += n
			lost += max(0, n-there[key])
		}
		require.NoError(t, q.Close())
		asRoot("umount", v.dir)
	}
	return acked, lost
}

func TestReceive_powerCut(t *testing.T) {
	long(t)
	for _, role := range []string{roleReceive, roleServe} {
		t.Run(role, func(t *testing.T) {
			acked, lost := lostInPowerCuts(t, role)
			t.Logf("%d power cuts, role %s: %d events answered 200, %d lost", *powerCuts, role, acked, lost)
			require.Zero(t, lost)
		})
	}
}

// Without a sync at each commit events must be lost, or TestReceive_powerCut shows nothing.
func TestReceive_powerCutWithoutSync(t *testing.T) {
	long(t)
	acked, lost := lostInPowerCuts(t, roleUnsynced)
	t.Logf("%d power cuts: %d events answered 200, %d lost", *powerCuts, acked, lost)
	require.Positive(t, lost)
}

func TestReceive_fullDisk(t *testing.T) {
	v := newVolume(t, 8<<20)
	s := stage{T: t, where: v.file()}
	q := s.queue(nil)
	ballast := filepath.Join(v.dir, "ballast")
	fill(t, ballast)
	n, refused := 0, 0
	for ; refused < 5; n++ {
		require.Less(t, n, 100_000, "the disk does not fill")
		w := s.deliver(q, webhooktest.Payload(completed("a", n)))
		if w.Code == http.StatusServiceUnavailable {
			refused++
			n-- // the sender delivers it again
			continue
		}
		require.Equal(t, http.StatusOK, w.Code)
	}
	require.Len(t, s.list(q, queue.Filter{}), n, "what was answered 200 is there, nothing else")
	require.NoError(t, os.Remove(ballast))
	s.accept(q, completed("a", n))
	var j journal
	s.run(q, j.noting(nil))
	s.settled(q)
	require.Len(t, j.all(), n+1)
}

// fill leaves some 200 KB of the disk.
func fill(t *testing.T, path string) {
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	size, _ := io.Copy(f, endless{})
	require.NoError(t, f.Truncate(size-200<<10))
	require.NoError(t, f.Sync())
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// A commit that need not be on the disk does not keep the next one off it.
func TestReceive_syncsEachCommit(t *testing.T) {
	s := stage{t, newFile(t), false}
	q := s.queue(nil)
	s.run(q, new(journal).noting(nil))
	for n := range 20 {
		s.accept(q, completed("a", n))
		s.settled(q)
		level, err := q.Synchronous(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, level, "full")
	}
}
