package endtoend_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// workflow is what the test reads of github-actions.yaml.
type workflow struct {
	Jobs struct {
		Test struct {
			Services struct {
				Sandbox struct {
					Ports   []string
					Options string
					Env     map[string]string
				}
			}
			Env   map[string]string
			Steps []struct{ Uses, Run string }
		}
	}
}

// container plays GitHub's runner in a network of its own, and Docker: a network for the service, with the image's variables, the
// hosts of --add-host, and a port of localhost that leads to it. The steps begin when the health check passes.
const container = `set -e
mkfifo unshared linked mapped
ip link set lo up
unshare -n -m --propagation private sh -ec '
	mount --bind hosts /etc/hosts
	echo > unshared
	read _ < linked
	ip link set lo up
	ip addr add 172.17.0.2/16 dev eth0
	ip link set eth0 up
	exec env -i $(cat service.env) "$BINARY" serve' 2> service.log &
service=$!
read _ < unshared
ip link add docker0 type veth peer name eth0 netns $service
ip addr add 172.17.0.1/16 dev docker0
ip link set docker0 up
echo > linked
node -e '
	const net = require("net"), [outer, inner] = process.env.PORTS.split(":");
	net.createServer((c) => {
		const s = net.connect(inner, "172.17.0.2");
		c.pipe(s).pipe(c);
		for (const end of [c, s]) end.on("error", () => { c.destroy(); s.destroy(); });
	}).listen(outer, "127.0.0.1", () => require("fs").writeFileSync("mapped", "\n"));' &
mapping=$!
trap 'kill $service $mapping; cat service.log >&2' EXIT
read _ < mapped
nsenter -t $service -n env -i $(cat service.env) "$BINARY" ready --wait 30s
env $(cat job.env) sh -ec "$STEPS"
mount --bind names /etc/hosts
env $(cat job.env) SIGNFORMS_SANDBOX_URL=http://sandbox:4874 "$BINARY" status
`

// The example for GitHub Actions works as it is written, with the suite of loop.test.mjs as the user's tests.
func TestGitHubActionsExample(t *testing.T) {
	become := []string{}
	if os.Geteuid() != 0 {
		become = []string{"sudo", "-n"}
	}
	as := func(args ...string) *exec.Cmd {
		args = append(become[:len(become):len(become)], args...)
		return exec.CommandContext(t.Context(), args[0], args[1:]...)
	}
	if out, err := as("unshare", "-n", "-m", "ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1").CombinedOutput(); err != nil {
		t.Skipf("no network can be made here, so nothing was tested: %v: %s", err, out)
	}
	text, err := os.ReadFile("../github-actions.yaml")
	require.NoError(t, err)
	var w workflow
	require.NoError(t, yaml.Unmarshal(text, &w))
	job, service := w.Jobs.Test, w.Jobs.Test.Services.Sandbox
	image, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	set := regexp.MustCompile(`(?m)^ENV (.*)`).FindStringSubmatch(string(image))
	require.NotNil(t, set)
	require.Len(t, service.Ports, 1)
	require.Equal(t, "actions/checkout@v5", job.Steps[0].Uses)
	var steps []string
	for _, step := range job.Steps[1:] {
		steps = append(steps, step.Run)
	}
	hosts := "127.0.0.1 localhost\n"
	for _, m := range regexp.MustCompile(`--add-host (\S+):host-gateway`).FindAllStringSubmatch(service.Options, -1) {
		hosts += "172.17.0.1 " + m[1] + "\n"
	}

	folder := t.TempDir()
	suite, err := os.ReadFile("testdata/loop.test.mjs")
	require.NoError(t, err)
	for name, content := range map[string]string{
		"loop.test.mjs": string(suite), "package.json": `{"scripts": {"test": "node --test loop.test.mjs"}}`,
		"hosts": hosts, "names": "127.0.0.1 localhost\n172.17.0.2 sandbox\n",
		"service.env": strings.Join(append(strings.Fields(set[1]), variables(service.Env)...), "\n"), "job.env": strings.Join(variables(job.Env), "\n"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644))
	}
	c := as("env", "PATH="+os.Getenv("PATH"), "BINARY="+binary, "PORTS="+service.Ports[0], "STEPS="+strings.Join(steps, "\n"),
		"unshare", "-n", "-m", "--propagation", "private", "sh", "-c", container)
	c.Dir = folder
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "# pass 1")
}

func variables(env map[string]string) (lines []string) {
	for name, value := range env {
		lines = append(lines, name+"="+value)
	}
	return lines
}
