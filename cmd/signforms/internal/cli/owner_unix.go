//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// othersMayChange reports whether a user other than this one and root owns a regular file, or may
// write to it. As for ssh, a group may write if its id is equal to the owner's id, because such a
// group has only the owner as a member.
func othersMayChange(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return false
	}
	mode := info.Mode()
	return s.Uid != 0 && int(s.Uid) != os.Getuid() || mode&0o002 != 0 || mode&0o020 != 0 && s.Gid != s.Uid
}
