//go:build !race

package pdfprocess

// overhead is how many times as much memory the race detector takes.
const overhead = 1

// environment is what the processes need in their environment for the race detector.
var environment []string
