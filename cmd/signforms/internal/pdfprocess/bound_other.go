//go:build !linux

package pdfprocess

// bound does nothing. On this system, only the parent limits the time of the process.
func bound(_ uint64) error { return nil }
