//go:build !unix

package bench

import "time"

var processStart = time.Now()

// CPUTime returns the time on the wall, which other programs on the machine bend.
func CPUTime() time.Duration { return time.Since(processStart) }
