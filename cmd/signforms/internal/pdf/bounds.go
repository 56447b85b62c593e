package pdf

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pdfcpu/pdfcpu/pkg/filter"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// isSide reports whether a page may be so wide or high. NaN is no side.
func isSide(points float64) bool { return points > 0 && points <= maxSide }

// unpackable returns ErrTooHeavy if a number of an object is above maxObjects, or the streams unpack to more than
// maxUnpacked bytes. Streams that cannot be unpacked do not count: viewers leave them out, too.
func unpackable(ctx *model.Context) error {
	left := int64(maxUnpacked)
	for number, entry := range ctx.Table {
		if number > maxObjects {
			return fmt.Errorf("%w (object %d has a number above %d)", ErrTooHeavy, number, maxObjects)
		}
		stream, ok := entry.Object.(types.StreamDict)
		if subtype := stream.Subtype(); !ok || len(stream.FilterPipeline) == 0 || subtype != nil && *subtype == "Image" {
			continue
		}
		content, err := stream.DecodeLengthWithLimit(-1, left)
		left -= int64(len(content))
		if left < 0 || errors.Is(err, filter.ErrDecodeLimitExceeded) {
			return fmt.Errorf("%w (the streams up to object %d unpack to more than %d bytes)", ErrTooHeavy, number, maxUnpacked)
		}
	}
	return nil
}

// orderCorners makes the boxes of pages begin at their lower left corner. PDF allows any two opposite corners; pdfcpu
// does not.
func orderCorners(ctx *model.Context) {
	for _, entry := range ctx.Table {
		page, ok := entry.Object.(types.Dict)
		if !ok {
			continue
		}
		for _, name := range []string{"MediaBox", "CropBox", "BleedBox", "TrimBox", "ArtBox"} {
			if box, err := ctx.DereferenceArray(page[name]); err == nil && len(box) == 4 {
				page[name] = orderedBox(ctx, box)
			}
		}
	}
}

// orderedBox returns a box with its corners in order, or as it is if these are not numbers.
func orderedBox(ctx *model.Context, box types.Array) types.Array {
	var at [4]float64
	for i, coordinate := range box {
		var err error
		if at[i], err = ctx.DereferenceNumber(coordinate); err != nil {
			return box
		}
	}
	return types.NewNumberArray(min(at[0], at[2]), min(at[1], at[3]), max(at[0], at[2]), max(at[1], at[3]))
}

// shown returns what a viewer shows of a page: the part of the crop box that is in the media box, or the media box if
// there is none.
func shown(media, crop *types.Rectangle) *types.Rectangle {
	if media == nil || crop == nil {
		return crop
	}
	both := types.NewRectangle(max(media.LL.X, crop.LL.X), max(media.LL.Y, crop.LL.Y), min(media.UR.X, crop.UR.X), min(media.UR.Y, crop.UR.Y))
	if both.LL.X >= both.UR.X || both.LL.Y >= both.UR.Y {
		return media
	}
	return both
}

// wholeStreams refuses a file with a stream that does not end where its Length says. pdfcpu takes that many bytes,
// viewers look for the end, and so they see more. It also refuses a stream with a filter under F, which viewers use and
// pdfcpu does not.
func wholeStreams(ctx *model.Context, data []byte) error {
	for number, entry := range ctx.Table {
		var stream types.StreamDict
		switch o := entry.Object.(type) {
		case types.StreamDict:
			stream = o
		case types.ObjectStreamDict:
			stream = o.StreamDict
		default:
			continue
		}
		end := stream.StreamOffset + int64(len(stream.Raw))
		if end > int64(len(data)) || !bytes.HasPrefix(bytes.TrimLeft(data[end:min(end+32, int64(len(data)))], "\x00\t\n\f\r "), []byte("endstream")) {
			return fmt.Errorf("%w (the stream of object %d is not as long as it says)", ErrDamaged, number)
		}
		switch f, _ := ctx.Dereference(stream.Dict["F"]); f.(type) {
		case types.Name, types.Array:
			return fmt.Errorf("%w (the stream of object %d names its filter as only pictures within a page may)", ErrDamaged, number)
		}
	}
	return nil
}
