package queue

import (
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// bootClock returns an id of this start of the machine, and a clock that shows the time since that
// start. The clock also runs while the machine is suspended, nobody can set it, and all processes
// see the same time. bootClock returns nil if there is no such clock.
func bootClock() (id string, since func() time.Duration) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if _, failed := readBoottime(); err != nil || failed {
		return "", nil
	}
	return strings.TrimSpace(string(text)), func() time.Duration {
		now, _ := readBoottime()
		return now
	}
}

func readBoottime() (since time.Duration, failed bool) {
	const boottime = 7 // CLOCK_BOOTTIME of clock_gettime(2)
	var t syscall.Timespec
	_, _, code := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, boottime, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano()), code != 0
}
