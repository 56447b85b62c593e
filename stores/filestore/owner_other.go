//go:build !unix

package filestore

import "os"

// ownerOf returns "", because it is implemented for Unix only.
func ownerOf(os.FileInfo) string { return "" }
