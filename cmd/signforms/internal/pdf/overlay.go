package pdf

import (
	"fmt"
	"strconv"
)

// overlay is a drawing that covers a page. Pages with the same overlay share it.
type overlay struct {
	size Page
	page int // number of the page whose marks it has, or 0
}

// drawing has the pages that this package drew for an update: first the overlays, then the certificate.
type drawing struct {
	graft
	pages    []page
	overlays map[overlay]int // positions of the overlays in pages
}

// draw draws everything that an update adds: the marks, the footer on each page unless it is empty,
// and the certificate.
func (u *update) draw(marks []Mark, footer string, cert *Certificate) (*drawing, error) {
	for _, m := range marks {
		if m.Page < 1 || m.Page > len(u.pages) {
			return nil, fmt.Errorf("%w: a value is to be on page %d, and the last is %d", errNoPage, m.Page, len(u.pages))
		}
	}
	overlays := map[overlay]int{}
	c := newCanvas()
	for i := range u.pages {
		o := u.overlay(i, marks)
		if _, done := overlays[o]; !done && (o.page > 0 || footer != "") {
			overlays[o] = len(overlays)
			c.overlay(o, marks, footer)
		}
	}
	if cert != nil {
		cert.draw(c)
	}
	data, err := c.bytes()
	if err != nil {
		return nil, err
	}
	from, err := openDocument(data)
	if err != nil {
		return nil, err
	}
	return &drawing{graft{from.file, u, map[int]int{}}, from.pages, overlays}, nil
}

// overlay returns the overlay of page i.
func (u *update) overlay(i int, marks []Mark) overlay {
	o := overlay{size: u.pages[i].Page}
	for _, m := range marks {
		if m.Page == i+1 {
			o.page = i + 1
		}
	}
	return o
}

// form returns a reference to a form that draws page i of the drawing on pages such as s.
func (d *drawing) form(i int, s sheet) value {
	p := d.pages[i]
	number, _, _ := p.entries.get("Contents").reference()
	o := d.from.get(number, 0)
	entries := o.value.dict().with("Type", value("/XObject")).with("Subtype", value("/Form")).with("BBox", p.box.text()).
		with("Matrix", s.matrix()).with("Resources", d.copy(p.entries.get("Resources")))
	return d.to.add(entries, o.packed)
}

// layOver writes the pages of the document again, each with its overlay.
func (u *update) layOver(d *drawing, marks []Mark) {
	forms := map[string]value{}
	save := u.add(nil, []byte("q\n"))
	for i, p := range u.pages {
		from, there := d.overlays[u.overlay(i, marks)]
		if !there || u.err != nil {
			continue
		}
		key := fmt.Sprint(from, p.sheet)
		if forms[key] == nil {
			forms[key] = d.form(from, p.sheet)
		}
		if u.layOverPage(p, forms[key], save); u.err != nil {
			u.err = onPage(u.err, i)
		}
		if len(u.out) > len(u.data)+maxUpdate {
			u.refuse(ErrTooHeavy, "its pages have resources of more than %d bytes together", maxUpdate)
		}
	}
}

// layOverPage writes a page again. Operators that save and restore the graphics state enclose the
// old content of the page, and the form follows.
func (u *update) layOverPage(p page, form, save value) {
	parts, content := u.contents(p.entries.get("Contents"))
	operators, problem := closing(content)
	if problem != "" {
		u.fail("its content %s", problem)
	}
	objects := u.dict(p.resources.get("XObject"))
	name := "Marks"
	for objects.get(name) != nil {
		name += "_"
	}
	after := u.add(nil, []byte("\n"+operators+"Q q /"+name+" Do Q\n"))
	resources := p.resources.with("XObject", objects.with(name, form).text())
	u.put(p.object, p.entries.with("Contents", array(append(append([]value{save}, parts...), after)...)).with("Resources", resources.text()).text())
}

// contents returns references to the streams of a page's content, and the bytes of the content.
func (u *update) contents(v value) (parts []value, content []byte) {
	for _, part := range u.list(v) {
		if _, _, ok := part.reference(); !ok {
			part = v // the only stream
		}
		number, generation, _ := part.reference()
		o := u.get(number, generation)
		if !o.isStream {
			u.fail("its content is no stream")
			return nil, nil
		}
		parts = append(parts, part)
		content = append(append(content, u.unpack(o)...), '\n')
	}
	return parts, content
}

// addCertificate appends the pages of the certificate to the page tree. It returns a reference to the first, which has
// the widget of the seal.
func (u *update) addCertificate(d *drawing, widget value) (first value) {
	kids := u.array(u.root.get("Kids"))
	for i, p := range d.pages[len(d.overlays):] {
		entries := dict{}.with("Type", value("/Page")).with("Parent", referenceTo(u.rootAt.number, u.rootAt.generation)).
			with("MediaBox", p.box.text()).with("CropBox", p.box.text()).with("Rotate", value("0")).
			with("Resources", d.copy(p.entries.get("Resources"))).with("Contents", d.copy(p.entries.get("Contents")))
		page := object{number: u.number()}
		kids = append(kids, referenceTo(page.number, 0))
		if i == 0 {
			first = referenceTo(page.number, 0)
			entries = entries.with("Annots", array(widget))
		}
		u.put(page, entries.text())
	}
	count := len(u.pages) + len(d.pages) - len(d.overlays)
	u.put(u.rootAt, u.root.with("Kids", array(kids...)).with("Count", strconv.AppendInt(nil, int64(count), 10)).text())
	return first
}
