//go:build !race

package pdfprocess

// overhead is how many times as much memory the race detector takes.
const overhead = 1

// environment has the environment variables that the processes need for the race detector.
var environment []string
