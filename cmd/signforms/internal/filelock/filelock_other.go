//go:build unix && !linux && !darwin

package filelock

import "os"

// tryContent does nothing, because these systems have no such locks.
func tryContent(*os.File, bool) error { return nil }
