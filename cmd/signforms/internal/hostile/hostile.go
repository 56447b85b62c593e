// Package hostile makes files for tests that no reader should take, and some that it should: PDFs and pictures that unpack to gigabytes, loop,
// nest or lie. The same files each time.
package hostile

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// A File is one file to upload.
type File struct {
	Name    string
	Picture bool // a PNG; otherwise a PDF
	Data    []byte
}

// PDF writes objects, numbered from 1, and the table that leads to them. Object 1 is the catalog.
func PDF(objects ...string) []byte {
	var out, table bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	fmt.Fprintf(&table, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for i, object := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	fmt.Fprintf(&out, "%strailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", table.Bytes(), len(objects)+1, start)
	return out.Bytes()
}

// The first two objects of a file with one page, which is object 3.
const (
	catalog = "<</Type/Catalog/Pages 2 0 R>>"
	onePage = "<</Type/Pages/Count 1/Kids[3 0 R]>>"
)

// Page makes a file of one page with more entries of the page, and objects from 4 on.
func Page(entries string, objects ...string) []byte {
	box := "/MediaBox[0 0 595 842]"
	if strings.Contains(entries, "/MediaBox") {
		box = ""
	}
	page := "<</Type/Page/Parent 2 0 R" + box + entries + ">>"
	return PDF(append([]string{catalog, onePage, page}, objects...)...)
}

// Stream writes a stream with entries of its dictionary.
func Stream(entries string, data []byte) string {
	return fmt.Sprintf("<</Length %d%s>>\nstream\n%s\nendstream", len(data), entries, data)
}

const megabyte = 1 << 20

// Zeros returns a zlib stream that unpacks to so many megabytes of one byte.
func Zeros(megabytes int, b byte) []byte {
	var block bytes.Buffer
	w, _ := flate.NewWriter(&block, flate.BestSpeed) // the level is a valid one, and a Buffer takes everything
	w.Write(bytes.Repeat([]byte{b}, megabyte))
	w.Flush()
	out := []byte{0x78, 0x01}
	for range megabytes {
		out = append(out, block.Bytes()...)
	}
	out = append(out, 1, 0, 0, 0xff, 0xff) // an empty last block
	return binary.BigEndian.AppendUint32(out, adler(megabytes*megabyte, b))
}

// adler returns the Adler-32 of n times the byte.
func adler(n int, b byte) uint32 {
	const mod = 65521
	m := uint64(n)
	low := (1 + m%mod*uint64(b)) % mod
	high := (m%mod + (m*(m+1)/2)%mod*uint64(b)) % mod
	return uint32(high<<16 | low)
}

// pack returns a zlib stream of data.
func pack(data []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out) // a Buffer takes everything
	w.Write(data)
	w.Close()
	return out.Bytes()
}

// PNG writes a picture that claims a size, a bit depth and a colour type, with chunks before its data.
func PNG(width, height uint32, depth, colour byte, data []byte, chunks ...[]byte) []byte {
	header := binary.BigEndian.AppendUint32(nil, width)
	header = append(binary.BigEndian.AppendUint32(header, height), depth, colour, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", header)...)
	for _, c := range chunks {
		out = append(out, c...)
	}
	return append(append(out, chunk("IDAT", data)...), chunk("IEND", nil)...)
}

func chunk(kind string, data []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}
