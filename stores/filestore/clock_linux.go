package filestore

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machineClock returns the time since the machine was started, including the time during which it
// was suspended. Setting the wall clock does not change it. The session is the id of the boot.
func machineClock() (session string, since time.Duration, err error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", 0, err
	}
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &at); err != nil {
		return "", 0, err
	}
	return strings.TrimSpace(string(boot)), time.Duration(at.Nano()), nil
}
