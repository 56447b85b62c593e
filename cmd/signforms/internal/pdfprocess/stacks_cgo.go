//go:build cgo

package pdfprocess

// stacks is how many bytes the stacks of threads take: with cgo, each of up to 16 threads has one of 8 MB.
const stacks = 16 * 8 << 20
