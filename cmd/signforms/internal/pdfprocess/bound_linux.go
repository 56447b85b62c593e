package pdfprocess

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// bound makes the kernel enforce the bounds of this process. The address space that the Go runtime has reserved does not count. When
// memory runs out in a container, the kernel ends this process rather than the sandbox.
func bound(memory uint64) error {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // fails only where there is no /proc
	var pages uint64
	if statm, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(statm), &pages); err != nil {
			return err
		}
	}
	err := lower(unix.RLIMIT_DATA, memory)
	if pages > 0 {
		err = errors.Join(err, lower(unix.RLIMIT_AS, pages*uint64(os.Getpagesize())+memory))
	}
	return errors.Join(err, lower(unix.RLIMIT_CPU, maxCPU), lower(unix.RLIMIT_CORE, 0))
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
