//go:build !cgo

package pdfprocess

const stacks = 0
