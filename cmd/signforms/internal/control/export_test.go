package control

import (
	"maps"
	"slices"
)

// Patterns returns the routes, such as "POST /templates", relative to [Prefix].
func Patterns() []string {
	all := slices.Collect(maps.Keys(streams))
	for _, route := range routes {
		all = append(all, route.pattern)
	}
	return all
}
