package endtoend_test

import (
	"bufio"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

var cuts = flag.Int("cuts", 2, "how often the power is cut early, how often later, with each --sync")

// volume is an ext4 file system in a file. What its processes have not synced is not in the file.
type volume struct{ image, dir string }

// newVolume makes a file system. Where the tests may not mount one they are skipped, but not in .ci/run.
func newVolume(t *testing.T) *volume {
	t.Helper()
	v := &volume{image: filepath.Join(t.TempDir(), "image"), dir: t.TempDir()}
	f, err := os.Create(v.image)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(64<<20))
	require.NoError(t, f.Close())
	out, err := exec.Command("mkfs.ext4", "-q", "-m", "0", v.image).CombinedOutput()
	if err == nil {
		out, err = v.mount(t)
	}
	if err != nil && os.Getenv("CI_RUN_BOUNDED") == "" {
		t.Skipf("no file system can be mounted here, so nothing was tested: %v: %s", err, out)
	}
	require.NoError(t, err, "%s", out)
	return v
}

// mount mounts the image so that the kernel writes nothing by itself for a while.
func (v *volume) mount(t *testing.T) ([]byte, error) {
	out, err := exec.Command("mount", "-o", "loop,commit=300", v.image, v.dir).CombinedOutput()
	if err == nil {
		t.Cleanup(func() { exec.Command("umount", v.dir).Run() })
	}
	return out, err
}

// afterPowerCut returns the volume as it is found after a power cut now. The image is copied while it is mounted: what is only
// in the kernel's memory is not in it. No program may write to the volume meanwhile.
func (v *volume) afterPowerCut(t *testing.T) *volume {
	t.Helper()
	cut := &volume{image: filepath.Join(t.TempDir(), "image"), dir: t.TempDir()}
	out, err := exec.Command("cp", "--sparse=always", v.image, cut.image).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = cut.mount(t)
	require.NoError(t, err, "%s", out)
	return cut
}

// life is a program on a volume, and the documents that it has acknowledged, of the first workspace and of one with a file of its own.
type life struct {
	*volume
	sync  string
	added [2][]string
}

func (l *life) acknowledged() int { return len(l.added[0]) + len(l.added[1]) }

// both returns clients of the two workspaces.
func (s *sandbox) both() [2]*wire.Client { return [2]*wire.Client{s.client, s.client.In("lasting")} }

func (l *life) data() string { return filepath.Join(l.dir, "made", "for it", "sandbox.db") }
func (l *life) env() string  { return filepath.Join(l.dir, "sandbox.env") }

func (l *life) args() []string {
	return []string{"--sync", l.sync, "--data", l.data(), "--env-file", l.env()}
}

// begin starts the program and kills it as soon as that many of its files are there.
func (l *life) begin(t *testing.T, files int) {
	t.Helper()
	c := exec.Command(binary, append([]string{"serve", "--addr", "127.0.0.1:0"}, l.args()...)...)
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	ready := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "This is a sandbox") {
				close(ready)
			}
		}
	}()
	require.Eventually(t, func() bool {
		select {
		case <-ready:
			return true
		default:
			there, _ := filepath.Glob(l.data() + "*")
			return len(there) >= files
		}
	}, time.Minute, time.Millisecond)
	require.NoError(t, c.Process.Kill())
	c.Wait()
}

// work runs the program until it has acknowledged so many more documents.
func (l *life) work(t *testing.T, documents int) {
	t.Helper()
	s := start(t, l.args()...)
	if both := s.both(); both[1].Get(t.Context(), "/status", nil, nil) != nil {
		require.Empty(t, l.added[1])
		require.NoError(t, both[0].Post(t.Context(), "/workspaces", wire.NewWorkspace{Name: "lasting"}, nil))
	}
	for i := range documents {
		var added wire.ID
		require.NoError(t, s.both()[i%2].Post(t.Context(), "/documents", lease("Lease"), &added))
		l.added[i%2] = append(l.added[i%2], added.ID)
	}
	s.kill(t)
}

// cut cuts the power, starts the program on what is left, and returns how many of the documents are gone.
func (l *life) cut(t *testing.T) (lost int) {
	t.Helper()
	after := life{volume: l.afterPowerCut(t), sync: l.sync}
	defer exec.Command("umount", after.dir).Run()
	if env, err := os.ReadFile(after.env()); err == nil {
		require.Equal(t, 6, strings.Count(string(env), "\n"), "a file of variables is whole: %q", env)
	}
	s := start(t, after.args()...)
	for w, client := range s.both() {
		before := true
		for _, id := range l.added[w] {
			there := client.Get(t.Context(), "/documents/"+id, nil, nil) == nil
			require.True(t, before || !there, "a document is there, and the one before it is not")
			if before = there; !there {
				lost++
			}
		}
	}
	s.stop(t)
	return lost
}

// The power is cut while the program starts for the first time, soon after, and later. It always starts again. With --sync full no
// acknowledged change is lost. With --sync normal some are, which shows that the cuts are real.
func TestPowerCut(t *testing.T) {
	for _, sync := range []string{"normal", "full"} {
		t.Run(sync, func(t *testing.T) {
			acknowledged, lost := 0, 0
			for i := range *cuts { // early
				l := &life{volume: newVolume(t), sync: sync}
				if i%2 == 0 {
					l.begin(t, i/2%4+1)
				} else {
					l.work(t, i)
				}
				acknowledged, lost = acknowledged+l.acknowledged(), lost+l.cut(t)
				exec.Command("umount", l.dir).Run()
			}
			l := &life{volume: newVolume(t), sync: sync}
			for range *cuts { // later
				l.work(t, 100)
				acknowledged, lost = acknowledged+l.acknowledged(), lost+l.cut(t)
			}
			t.Logf("%d power cuts, %d changes acknowledged, %d lost", 2**cuts, acknowledged, lost)
			if sync == "full" {
				require.Zero(t, lost)
			} else {
				require.Positive(t, lost)
			}
		})
	}
}
