package pdfprocess

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// bound makes the kernel enforce the bounds of this process. What the Go runtime has reserved up to now does not count,
// nor do the stacks of the threads that it may start.
// When memory runs out in a container, the kernel ends this process rather than the sandbox.
func bound(memory uint64) error {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // fails only where there is no /proc
	var space, data, other uint64                                   // in pages
	if statm, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(statm), &space, &other, &other, &other, &other, &data); err != nil {
			return err
		}
	}
	memory += stacks
	page := uint64(os.Getpagesize())
	errs := []error{lower(unix.RLIMIT_DATA, data*page+memory), lower(unix.RLIMIT_CPU, maxCPU), lower(unix.RLIMIT_CORE, 0)}
	if space > 0 {
		errs = append(errs, lower(unix.RLIMIT_AS, space*page+memory))
	}
	return errors.Join(errs...)
}

// lower sets a bound, unless a lower one is set already.
func lower(resource int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	hard := min(now.Max, most+1) // SIGXCPU comes at the soft bound and SIGKILL at the hard one
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: min(now.Cur, most), Max: hard})
}
