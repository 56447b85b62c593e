//go:build unix

package filestore

import (
	"os"
	"strconv"
	"syscall"
)

// ownerOf returns the number of the user that a file belongs to.
func ownerOf(info os.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(uint64(s.Uid), 10)
	}
	return ""
}
