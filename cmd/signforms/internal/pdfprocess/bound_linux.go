package pdfprocess

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// bound makes the kernel enforce the bounds of this process. What the Go runtime has reserved up to now does not count. When
// memory runs out in a container, the kernel ends this process rather than the sandbox. It reports whether this process may have all of
// the memory: a bound of whoever started the sandbox may be lower.
func bound(memory uint64) (all bool, err error) {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // fails only where there is no /proc
	var space, data, other uint64                                   // in pages
	if statm, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(statm), &space, &other, &other, &other, &other, &data); err != nil {
			return false, err
		}
	}
	page := uint64(os.Getpagesize())
	all, err = lower(unix.RLIMIT_DATA, data*page+memory)
	if space > 0 {
		allSpace, spaceErr := lower(unix.RLIMIT_AS, space*page+memory)
		all, err = all && allSpace, errors.Join(err, spaceErr)
	}
	_, cpuErr := lower(unix.RLIMIT_CPU, maxCPU)
	_, coreErr := lower(unix.RLIMIT_CORE, 0)
	return all, errors.Join(err, cpuErr, coreErr)
}

// lower sets a bound, unless a lower one is set already, and reports whether it did.
func lower(resource int, most uint64) (set bool, err error) {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return false, err
	}
	hard := min(now.Max, most+1) // SIGXCPU comes at the soft bound and SIGKILL at the hard one
	return now.Cur >= most, unix.Setrlimit(resource, &unix.Rlimit{Cur: min(now.Cur, most), Max: hard})
}
