//go:build !unix

package filestore

import "os"

// ownerOf returns "", because other systems name owners in other ways.
func ownerOf(os.FileInfo) string { return "" }
