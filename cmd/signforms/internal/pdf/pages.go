package pdf

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// rectangle is a box of a page in its own units, with its corners in order.
type rectangle struct{ left, bottom, right, top float64 }

func (r rectangle) text() value { return numbers(r.left, r.bottom, r.right, r.top) }

// numbers returns an array.
func numbers(all ...float64) value {
	out := value("[")
	for _, n := range all {
		out = append(strconv.AppendFloat(out, math.Round(n*1e9)/1e9, 'f', -1, 64), ' ')
	}
	return append(out, ']')
}

// sheet is a page as it is stored.
type sheet struct {
	Page
	box    rectangle // the visible part of the page: the part of the crop box that is in the media box
	rotate int       // clockwise: 0, 90, 180 or 270 degrees
	unit   float64   // size of a unit of the page, in points
}

// page is a page of a document.
type page struct {
	sheet
	object
	entries, resources dict
}

// inherited has the entries that a page inherits from the nodes above it.
type inherited struct {
	node      int // the number of the object of the node
	values    map[string]value
	resources []dict // resources of the nodes above the page and of the page, from the top
}

// document is the part of a file that an update changes.
type document struct {
	*file
	catalogAt, rootAt object
	catalog, root     dict // root is the root of the page tree
	pages             []page
	seen              map[int]bool // the objects of the page tree
}

// openDocument opens a file and reads its pages. It refuses a file about whose pages viewers
// disagree.
func openDocument(data []byte) (*document, error) {
	d := &document{file: open(data), seen: map[int]bool{}}
	d.catalogAt, d.catalog = d.indirect(d.trailer.get("Root"), "Catalog")
	d.rootAt, d.root = d.indirect(d.catalog.get("Pages"), "Pages")
	if d.node(d.rootAt, d.root, inherited{}, 0) == 0 {
		d.fail("it has no pages")
	}
	return d, d.err
}

// indirect returns the dictionary of a type that a value refers to.
func (d *document) indirect(v value, kinds ...string) (object, dict) {
	number, generation, _ := v.reference()
	o := d.get(number, generation)
	entries := d.dict(o.value)
	for _, kind := range kinds {
		if entries != nil && !o.isStream && d.resolve(entries.get("Type")).name() == kind {
			return o, entries
		}
	}
	d.fail("object %d is no %v", number, kinds)
	return o, nil
}

// node adds the pages of a node of the page tree, and returns the number of these pages.
func (d *document) node(at object, node dict, from inherited, depth int) (count int) {
	if depth > maxDepth {
		d.fail("the page tree is more than %d deep", maxDepth)
	}
	from = d.inherit(from, node)
	from.node = at.number
	for _, kid := range d.array(node.get("Kids")) {
		o, entries := d.indirect(kid, "Page", "Pages")
		if d.seen[o.number] {
			d.fail("object %d is in the page tree twice", o.number)
		}
		d.seen[o.number] = true
		if parent, _, _ := entries.get("Parent").reference(); parent != at.number {
			d.fail("object %d has another Parent than the node whose Kids it is among", o.number)
		}
		switch {
		case d.err != nil:
			return 0
		case d.resolve(entries.get("Type")).name() == "Pages":
			count += d.node(o, entries, from, depth+1)
		case len(d.pages) == maxPages:
			d.err = ErrManyPages
		default:
			count++
			d.page(o, entries, d.inherit(from, entries))
		}
	}
	if d.number(node.get("Count")) != float64(count) {
		d.fail("object %d says that it has another number of pages than it has", at.number)
	}
	return count
}

// inherit returns the inherited entries, replaced by those of a node or page.
func (d *document) inherit(from inherited, entries dict) inherited {
	values := map[string]value{}
	for _, key := range []string{"MediaBox", "CropBox", "Rotate"} {
		if values[key] = entries.get(key); values[key] == nil {
			values[key] = from.values[key]
		}
	}
	from.values = values
	if own := d.dict(entries.get("Resources")); own != nil {
		from.resources = append(from.resources[:len(from.resources):len(from.resources)], own)
	}
	return from
}

// page adds a page.
func (d *document) page(at object, entries dict, from inherited) {
	p := page{object: at, entries: entries}
	if last := len(from.resources) - 1; last >= 0 {
		p.resources = from.resources[last]
		for _, above := range from.resources[:last] {
			if above.get("XObject") != nil && p.resources.get("XObject") == nil {
				d.fail("page %d has resources besides those of a node above it, which viewers merge in different ways", len(d.pages)+1)
			}
		}
	}
	p.sheet = d.sheet(entries, from.values)
	if rotate := d.resolve(from.values["Rotate"]); bytes.ContainsRune(rotate, '.') {
		p.entries = entries.with("Rotate", strconv.AppendInt(nil, int64(p.rotate), 10)) // viewers treat real numbers differently
	}
	d.pages = append(d.pages, p)
}

// sheet returns how a viewer shows a page.
func (d *document) sheet(entries dict, values map[string]value) (s sheet) {
	media := d.box(values["MediaBox"])
	s.box, s.unit = media, 1
	if values["CropBox"] != nil {
		crop := d.box(values["CropBox"])
		s.box = rectangle{max(media.left, crop.left), max(media.bottom, crop.bottom), min(media.right, crop.right), min(media.top, crop.top)}
	}
	width, height := s.box.right-s.box.left, s.box.top-s.box.bottom
	if !isSide(width) || !isSide(height) {
		d.fail("what viewers show of page %d is not between 0 and %d points wide and high", len(d.pages)+1, maxSide)
	}
	if unit := entries.get("UserUnit"); unit != nil {
		if s.unit = d.number(unit); !(s.unit >= 1e-3 && s.unit <= 1e3) {
			d.fail("the UserUnit of page %d is no size", len(d.pages)+1)
		}
	}
	if values["Rotate"] != nil {
		angle := d.number(values["Rotate"])
		if math.Mod(angle, 90) != 0 {
			d.fail("the Rotate of page %d is no multiple of 90", len(d.pages)+1)
		}
		s.rotate = (int(math.Mod(angle, 360)) + 360) % 360
	}
	s.Page = Page{Width: width * s.unit, Height: height * s.unit}
	if s.rotate%180 == 90 {
		s.Page = Page{Width: s.Height, Height: s.Width}
	}
	return s
}

// box returns a rectangle, which is given by any two opposite corners.
func (d *document) box(v value) rectangle {
	corners := d.array(v)
	if len(corners) != 4 {
		d.fail("page %d has no size", len(d.pages)+1)
		return rectangle{}
	}
	x1, y1, x2, y2 := d.number(corners[0]), d.number(corners[1]), d.number(corners[2]), d.number(corners[3])
	return rectangle{min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)}
}

// isSide reports whether a page may have this width or height. NaN is refused.
func isSide(units float64) bool { return units > 0 && units <= maxSide }

// matrix maps the upright page in points, as a viewer shows it, to the page as it is stored.
func (s sheet) matrix() value {
	n := 1 / s.unit
	switch s.rotate {
	case 90:
		return numbers(0, n, -n, 0, s.box.right, s.box.bottom)
	case 180:
		return numbers(-n, 0, 0, -n, s.box.right, s.box.top)
	case 270:
		return numbers(0, -n, n, 0, s.box.left, s.box.top)
	}
	return numbers(n, 0, 0, n, s.box.left, s.box.bottom)
}

// form returns the interactive form of the document, or nil. It refuses a form that only few
// programs show.
func (d *document) form() dict {
	if string(d.resolve(d.catalog.get("NeedsRendering"))) == "true" && d.err == nil {
		d.err = ErrDynamicForm
	}
	return d.dict(d.catalog.get("AcroForm"))
}

// isSigned reports whether a field of the form has a signature.
func (d *document) isSigned(fields []value, kind string, seen map[int]bool) bool {
	for _, field := range fields {
		number, _, _ := field.reference()
		if seen[number] {
			continue
		}
		seen[number] = true
		entries := d.resolve(field).dict()
		own := kind
		if name := d.resolve(entries.get("FT")); name != nil {
			own = name.name()
		}
		if own == "Sig" && entries.get("V") != nil || d.isSigned(d.resolve(entries.get("Kids")).elements(), own, seen) {
			return true
		}
	}
	return false
}

// permissions returns the catalog without the rights that Adobe's programs grant for a form. Any
// change of the file voids these rights, and viewers would show a warning. permissions refuses a
// certified file.
func (d *document) permissions() dict {
	all := d.dict(d.catalog.get("Perms"))
	switch rest := all.with("UR", nil).with("UR3", nil); {
	case all.get("DocMDP") != nil && d.err == nil:
		d.err = ErrCertified
	case len(rest) == len(all):
	case len(rest) == 0:
		return d.catalog.with("Perms", nil)
	default:
		return d.catalog.with("Perms", rest.text())
	}
	return d.catalog
}

func onPage(err error, i int) error { return fmt.Errorf("%w (page %d)", err, i+1) }
