package signforms

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionIsThatOfTheBuild(t *testing.T) {
	for _, c := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{name: "required", info: debug.BuildInfo{Deps: []*debug.Module{{Path: "example.com/x", Version: "v9.0.0"}, {Path: modulePath, Version: "v0.2.0"}}}, want: "v0.2.0"},
		{name: "replaced by a folder", info: debug.BuildInfo{Deps: []*debug.Module{{Path: modulePath, Version: "v0.2.0", Replace: &debug.Module{Path: "../fork"}}}}, want: "devel"},
		{name: "built from a checkout", info: debug.BuildInfo{Main: debug.Module{Path: modulePath, Version: "(devel)"}}, want: "devel"},
		{name: "not there", info: debug.BuildInfo{Main: debug.Module{Path: "example.com/x"}}, want: "devel"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, versionIn(&c.info)) })
	}
	require.Equal(t, "devel", Version())
}
