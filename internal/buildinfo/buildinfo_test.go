package buildinfo

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	const path = "example.com/sdk"
	other := &debug.Module{Path: "example.com/sdk/otel", Version: "v9.0.0"}
	for _, c := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{name: "required", info: debug.BuildInfo{Deps: []*debug.Module{other, {Path: path, Version: "v0.2.0"}}}, want: "v0.2.0"},
		{name: "installed", info: debug.BuildInfo{Main: debug.Module{Path: path, Version: "v0.3.0"}, Deps: []*debug.Module{other}}, want: "v0.3.0"},
		{name: "replaced by a fork", info: debug.BuildInfo{Deps: []*debug.Module{{Path: path, Version: "v0.2.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v0.2.1"}}}}, want: "v0.2.1"},
		{name: "replaced by a folder", info: debug.BuildInfo{Deps: []*debug.Module{{Path: path, Version: "v0.2.0", Replace: &debug.Module{Path: "../fork"}}}}},
		{name: "built from a checkout", info: debug.BuildInfo{Main: debug.Module{Path: path, Version: "(devel)"}}},
		{name: "not there", info: debug.BuildInfo{Main: *other}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, versionIn(&c.info, path)) })
	}
	require.Empty(t, Version("github.com/signforms/signforms-go"), "of a test in the checkout")
}
