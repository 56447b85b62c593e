//go:build race

package pdfprocess

const overhead = 16

// environment keeps the race detector from sleeping for a second before a process ends.
var environment = []string{"GORACE=atexit_sleep_ms=0"}
