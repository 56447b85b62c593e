//go:build !unix

package cli

import "io/fs"

// othersMayChange is for systems whose files show who may change them.
func othersMayChange(fs.FileInfo) bool { return false }
