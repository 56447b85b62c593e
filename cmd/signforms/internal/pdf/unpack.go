package pdf

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	"github.com/pdfcpu/pdfcpu/pkg/filter"
)

// unpack returns the content of a stream. All streams of a file together may have maxUnpacked bytes.
func (f *file) unpack(o object) []byte {
	d, content := o.value.dict(), o.packed
	if d.get("F") != nil {
		f.fail("the stream of object %d names its filter as only pictures within a page may", o.number)
	}
	if len(content) == 0 {
		return nil
	}
	parameters := f.list(d.get("DecodeParms"))
	for i, name := range f.list(d.get("Filter")) {
		settings := map[string]int{}
		if i < len(parameters) {
			for _, e := range f.resolve(parameters[i]).dict() {
				if n, ok := natural(string(f.resolve(e.value))); ok {
					settings[e.key.name()] = n
				}
			}
		}
		if f.err != nil {
			return nil
		}
		unpacked, err := unfilter(content, f.resolve(name).name(), settings, f.left)
		switch {
		case errors.Is(err, filter.ErrDecodeLimitExceeded):
			f.refuse(ErrTooHeavy, "its streams unpack to more than %d bytes", maxUnpacked)
		case err != nil:
			f.fail("the stream of object %d cannot be unpacked: %v", o.number, err)
		}
		content = unpacked
		f.left -= len(content)
	}
	return content
}

// list returns the elements of an array. Any other value counts as an array with one element.
func (f *file) list(v value) []value {
	if v = f.present(v); v == nil || v[0] == '[' {
		return f.array(v)
	}
	return []value{v}
}

// unfilter undoes one filter.
func unfilter(packed []byte, name string, settings map[string]int, most int) ([]byte, error) {
	switch name {
	case filter.Flate:
		if content, err := inflate(packed, most); err != nil || settings["Predictor"] < 2 {
			return content, err
		}
	case filter.LZW, filter.ASCII85, filter.ASCIIHex, filter.RunLength:
	default:
		return nil, fmt.Errorf("%q is no filter for text", name)
	}
	undo, err := filter.NewFilter(name, settings, int64(most))
	if err != nil {
		return nil, err
	}
	content, err := undo.Decode(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(content)
}

// inflate undoes FlateDecode. It returns an error for data that ends too early, which the filter of
// pdfcpu accepts. Like viewers, it ignores the checksum.
func inflate(packed []byte, most int) ([]byte, error) {
	if len(packed) < 2 || packed[0]&15 != 8 || (int(packed[0])<<8|int(packed[1]))%31 != 0 {
		return nil, zlib.ErrHeader
	}
	content, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed[2:])), int64(most)+1))
	if len(content) > most {
		return nil, filter.ErrDecodeLimitExceeded
	}
	return content, err
}
