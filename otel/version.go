package otel

import (
	"runtime/debug"
	"sync"
)

// version is this module's version as the go command recorded it in the program, or "" where it did not.
var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range info.Deps {
		if module.Path == scope {
			return module.Version
		}
	}
	return ""
})
