//go:build !unix

package bench

import "time"

var processStart = time.Now()

// cpuTime returns the time on the wall, which other programs on the machine bend.
func cpuTime() time.Duration { return time.Since(processStart) }
