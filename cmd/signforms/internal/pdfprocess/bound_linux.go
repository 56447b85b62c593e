package pdfprocess

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// bound makes the kernel enforce the limits of this process. Memory that the Go runtime has
// reserved before does not count, and neither do the stacks of threads that it may start. If memory
// runs out in a container, the kernel ends this process and not the sandbox.
func bound(memory uint64) error {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // fails only if there is no /proc
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

// lower sets a limit, unless a lower limit is set already.
func lower(resource int, most uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	hard := min(now.Max, most+1) // the kernel sends SIGXCPU at the soft limit and SIGKILL at the hard limit
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: min(now.Cur, most), Max: hard})
}
