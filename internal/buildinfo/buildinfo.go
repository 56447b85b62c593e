// Package buildinfo finds the version of one of this repository's modules in a program that contains it.
package buildinfo

import "runtime/debug"

// Version returns the version of the module with that path, such as v0.2.0, as the go command
// recorded it in the running program. Version returns "" if the program was built from a checkout
// or does not contain the module.
func Version(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return versionIn(info, path)
}

func versionIn(info *debug.BuildInfo, path string) string {
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path != path {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "(devel)" {
			return m.Version
		}
	}
	return ""
}
