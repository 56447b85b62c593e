//go:build unix

package bench

import (
	"syscall"
	"time"
)

// CPUTime returns what all threads of this process have spent on a processor.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
