//go:build unix

package filestore

import (
	"os"
	"strconv"
	"syscall"
)

// ownerOf returns the user id of the owner of a file.
func ownerOf(info os.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(uint64(s.Uid), 10)
	}
	return ""
}
