//go:build !linux

package limitfile

import "time"

// machineClock is the wall clock, where no other is at hand that all processes share.
func machineClock() (session string, since time.Duration, err error) {
	return "wall clock", time.Duration(time.Now().UnixNano()), nil
}
