//go:build !unix

package cli

import "io/fs"

// othersMayChange is implemented on systems whose files show who may change them; here it reports
// false.
func othersMayChange(fs.FileInfo) bool { return false }
