package pdf

// The position of a value in its box. The signing page shows the value at the same position before
// it is stamped: static/stamp.js of package signpages has the same functions, and
// testdata/stamp.json has the results of both. Coordinates are points from the top left corner of
// the box.

// leading is the line height, as a multiple of the font size.
const leading = 1.2

type placed struct{ x, y, width, height float64 }

// pictureIn returns the position of an image with this size in a box. The image is as large as
// fits, at the left edge, and vertically centred.
func pictureIn(w, h, width, height float64) placed {
	scale := min(w/width, h/height)
	return placed{0, (h - height*scale) / 2, width * scale, height * scale}
}

// tickIn returns the three corners of a tick in the middle of a box, and how wide its line is.
func tickIn(w, h float64) (corners [3][2]float64, line float64) {
	side := min(w, h)
	for i, at := range [3][2]float64{{0.15, 0.55}, {0.4, 0.8}, {0.85, 0.2}} {
		corners[i] = [2]float64{(w-side)/2 + side*at[0], (h-side)/2 + side*at[1]}
	}
	return corners, max(side/10, 0.5)
}

// textSizes returns the font sizes to try in a box. They begin at 14 points, or less if the box is
// low, and end at about 2 points.
func textSizes(h float64) []float64 {
	sizes := []float64{min(14, h/leading)}
	for last := sizes[0]; last > 2; last = sizes[len(sizes)-1] {
		sizes = append(sizes, last*0.94)
	}
	return sizes
}

// baseline returns the position of line i of lines. The lines are centred vertically.
func baseline(h, size float64, lines, i int) float64 {
	return (h-float64(lines)*size*leading)/2 + size*(float64(i)*leading+0.95)
}
