//go:build !linux && !windows

package pdfprocess

import "golang.org/x/sys/unix"

// bound makes the kernel bound the processor time of this process. No other kernel enforces a bound of memory as Linux does.
func bound(_ uint64) (all bool, err error) {
	return true, unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: maxCPU, Max: maxCPU + 1})
}
