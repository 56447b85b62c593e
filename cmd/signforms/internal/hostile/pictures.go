package hostile

import (
	"bytes"
	"fmt"
)

// Pictures returns those of Files that are pictures: 40 PNGs.
func Pictures() (all []File) {
	add := func(name string, data []byte) { all = append(all, File{Name: name, Picture: true, Data: data}) }
	for _, side := range []uint32{0, 2001, 9000, 60_000, 1<<31 - 1, 1<<32 - 1} {
		for _, colour := range []byte{0, 2, 3, 4, 6} {
			add(fmt.Sprintf("%d × %d, colour %d", side, side, colour), PNG(side, side, 8, colour, Zeros(100, 0)))
		}
	}
	legal := func(depth, colour byte, rowBytes int) []byte {
		return PNG(2000, 2000, depth, colour, pack(make([]byte, 2000*(rowBytes+1))))
	}
	add("as large as may be", legal(8, 6, 8000))
	add("as large as may be, 16 bits", legal(16, 6, 16_000))
	add("wide and flat", PNG(4_000_000, 1, 8, 0, pack(make([]byte, 4_000_001))))
	add("one pixel that unpacks to 500 MB", PNG(1, 1, 8, 6, Zeros(500, 0)))
	add("a text of 500 MB", PNG(1, 1, 8, 6, pack(make([]byte, 5)), chunk("zTXt", append([]byte("a\x00\x00"), Zeros(500, 0)...))))
	add("a profile of 500 MB", PNG(1, 1, 8, 6, pack(make([]byte, 5)), chunk("iCCP", append([]byte("a\x00\x00"), Zeros(500, 0)...))))
	add("cut short", legal(8, 6, 8000)[:300])
	add("nothing in it", PNG(100, 100, 8, 6, nil))
	add("wrong sum", bytes.Replace(PNG(1, 1, 8, 6, pack(make([]byte, 5))), []byte("IEND\xae"), []byte("IEND\xaf"), 1))
	add("palette without colours", PNG(100, 100, 8, 3, pack(make([]byte, 101*100))))
	return all
}
