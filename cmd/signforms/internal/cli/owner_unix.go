//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// keySent is why it matters who may change settings.
const keySent = "and so may change where your key is sent"

// othersMayChange returns how users other than this one and root may change a file, or replace those of a folder, and what to do; empty
// for not at all. As for ssh, a group may write if its number is that of the owner: such a group is the owner's alone. In a folder with
// the sticky bit only owners replace files.
func othersMayChange(info fs.FileInfo) string {
	if info.IsDir() && info.Mode()&fs.ModeSticky != 0 {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	switch mode := info.Mode(); {
	case !ok:
		return ""
	case s.Uid != 0 && int(s.Uid) != os.Getuid():
		return "another user of this machine owns it, " + keySent + ": use a file and folders of your own"
	case mode&0o002 != 0, mode&0o020 != 0 && s.Gid != s.Uid:
		return "others on this machine may write to it, " + keySent + ": chmod go-w it, or use a file and folders of your own"
	}
	return ""
}
