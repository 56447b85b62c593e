//go:build race

package pdfprocess

const overhead = 16
