//go:build !race

package pdfprocess

// overhead is how many times as much memory the race detector takes.
const overhead = 1
