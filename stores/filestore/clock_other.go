//go:build !linux

package filestore

import "time"

// machineClock returns the time of the wall clock, because there is no other clock that all processes share.
func machineClock() (session string, since time.Duration, err error) {
	return "wall clock", time.Duration(time.Now().UnixNano()), nil
}
