//go:build !unix

package bench

import "time"

var processStart = time.Now()

// CPUTime returns the elapsed time since the start of the process, in place of the CPU time. Other programs on the machine distort
// it.
func CPUTime() time.Duration { return time.Since(processStart) }
