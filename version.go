package signforms

import (
	"runtime/debug"
	"sync"
)

// modulePath is this module's path.
const modulePath = "github.com/signforms/signforms-go"

// Version returns this module's version, such as v0.2.0, as the go command recorded it in the program. It is "devel" in programs
// and tests that were built from a checkout. It is part of the User-Agent.
func Version() string { return moduleVersion() }

var moduleVersion = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	return versionIn(info)
})

func versionIn(info *debug.BuildInfo) string {
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path != modulePath {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return "devel"
}
