package signing

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Field is an area in the PDF of a template or document that a signer fills in when signing. The
// service does not document its own fields.
type Field struct {
	Name     string    `json:"name"`               // not empty, and different from all other names; in completed events it is the label of the field's key
	Role     string    `json:"role"`               // title of the role that fills it in; in a PDF document the signer's e-mail address
	Kind     FieldKind `json:"kind"`               // kind of the value
	Required bool      `json:"required,omitempty"` // no signer of the role can sign without it

	Page int `json:"page"` // from 1; without a PDF there is one page; the number of pages of a PDF is not checked

	// X and Y are the top left corner of the field, and Width and Height its size. All are
	// fractions of the visible page, from its top left corner. The visible page is cropped and
	// rotated, as a reader shows it.
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// FieldKind is the kind of value that a field takes.
type FieldKind string

// The kinds of fields. The service does not document which of them it has.
const (
	FieldSignature FieldKind = "signature" // a name as text, or an image
	FieldInitials  FieldKind = "initials"  // initials as text, or an image
	FieldText      FieldKind = "text"
	FieldDate      FieldKind = "date"     // a date such as 2006-01-02
	FieldCheckbox  FieldKind = "checkbox" // "true" or "false"; a required one must be "true"
)

// FieldKinds lists them.
var FieldKinds = [...]FieldKind{FieldSignature, FieldInitials, FieldText, FieldDate, FieldCheckbox}

// drawn reports whether the field may contain an image.
func (k FieldKind) drawn() bool { return k == FieldSignature || k == FieldInitials }

// The limits of the image in a value. A PNG of a megabyte may declare any number of pixels.
const (
	maxImage  = 1 << 20 // bytes
	maxPixels = 4_000_000
)

// unpack returns the image in a PNG for a finished file, or nil if the image exceeds the limits. It
// decodes no more than the limits allow.
func unpack(data []byte) image.Image {
	header, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || len(data) > maxImage || header.Width > maxPixels/header.Height {
		return nil
	}
	picture, _ := png.Decode(bytes.NewReader(data)) // nil if the PNG is not complete
	return picture
}

const (
	noInk = "has a picture in which nothing can be seen on white paper: draw it again"
	aDot  = "has a picture with little more than a dot: a signature is at least a tenth as wide or as high as its picture"
)

// inkOf returns the part of an image that is visible on white paper. It stops as soon as that part
// is a tenth as wide or as high as the image.
func inkOf(picture image.Image) (ink image.Rectangle) {
	pixels := picture.(image.RGBA64Image) // all images of package png implement it
	all := picture.Bounds()
	for y := all.Min.Y; y < all.Max.Y; y++ {
		for x := all.Min.X; x < all.Max.X; x++ {
			if c := pixels.RGBA64At(x, y); min(c.R, c.G, c.B) >= c.A { // a white pixel is as bright as its opacity allows
				continue
			}
			if ink = ink.Union(image.Rect(x, y, x+1, y+1)); !isDot(ink, all) {
				return ink
			}
		}
	}
	return ink
}

// isDot reports whether ink is less than a tenth as wide and as high as the whole image.
func isDot(ink, all image.Rectangle) bool { return ink.Dx()*10 < all.Dx() && ink.Dy()*10 < all.Dy() }

// FieldValue is a value that a signer entered. It names a [Field] of the document, from which it
// gets Kind, Page and Label. In a document without fields, Name is empty and Kind, Page and Label
// are free. Completed events contain the value under a key such as contact_field(page1)[Buyer].
type FieldValue struct {
	Signer string `json:",omitzero"` // id of the signer, set by [Document.Sign]
	Name   string `json:",omitzero"`
	Kind   string `json:",omitzero"` // contact_field is documented; text, date and name were observed
	Page   int    `json:",omitzero"` // from 1
	Label  string `json:",omitzero"` // usually the role title; for a Field, its name
	Value  string `json:",omitzero"`
	Image  File   `json:",omitzero"` // a PNG, for a signature or initials
}

// Drawn reports whether the value is a signature or initials of a field. Events do not contain such
// values.
func (v FieldValue) Drawn() bool { return v.Name != "" && FieldKind(v.Kind).drawn() }

// Check returns an [*Invalid] unless the template's names and its author's address are valid and
// its fields fit its PDF.
func (t Template) Check() error {
	names := []named{{"Name", t.Name}}
	for i, role := range t.Roles {
		names = append(names, named{fmt.Sprintf("Roles[%d].Title", i), role.Title}, named{fmt.Sprintf("Roles[%d].Colour", i), role.Colour})
	}
	for i, v := range t.Variables {
		names = append(names, named{fmt.Sprintf("Variables[%d]", i), v})
	}
	err := cmp.Or(
		CheckCount("Roles", len(t.Roles), MaxPeople), CheckCount("Variables", len(t.Variables), MaxList),
		checkNames(names...), checkEmail("AuthorEmail", t.AuthorEmail),
	)
	if err != nil {
		return err
	}
	return CheckFields(t.Fields, t.titles(), t.PDF)
}

// CheckFields returns an [*Invalid] unless the fields are valid in a document with these roles or
// addresses. It does not know how many pages a PDF has; without a PDF there is one page.
func CheckFields(fields []Field, roles []string, pdf File) error {
	if err := CheckCount("Fields", len(fields), MaxList); err != nil {
		return err
	}
	for i, f := range fields {
		wrong := func(name, format string, args ...any) error {
			return &Invalid{Field: fmt.Sprintf("Fields[%d].%s", i, name), Problem: fmt.Sprintf(format, args...)}
		}
		sameName := func(other Field) bool { return other.Name == f.Name }
		switch long := tooLong(f.Name, MaxName); {
		case long != "":
			return wrong("Name", "%s", long)
		case f.Name == "":
			return wrong("Name", "is empty")
		case slices.ContainsFunc(fields[:i], sameName):
			return wrong("Name", "is %q like that of another field: each needs its own", f.Name)
		case !slices.Contains(roles, f.Role):
			return wrong("Role", "is %.64q, which is not one of %s", f.Role, Quoted(roles))
		case !slices.Contains(FieldKinds[:], f.Kind):
			return wrong("Kind", "is %.64q, which is not one of %s", f.Kind, Quoted(FieldKinds[:]))
		case f.Page < 1:
			return wrong("Page", "is %d: the first page is 1", f.Page)
		case f.Page > 1 && pdf.SHA256 == "":
			return wrong("Page", "is %d: without a PDF there is one page", f.Page)
		case !(f.X >= 0 && f.Y >= 0 && f.Width > 0 && f.Height > 0 && f.X+f.Width <= 1 && f.Y+f.Height <= 1): // false for NaN too
			return wrong("X", "is the left edge of a field that has no size, or that is not all on its page: place and size are fractions of the page")
		}
	}
	return nil
}

// FieldsOf returns the fields that the signer at index i has to fill in, in the document's order.
func (d Document) FieldsOf(i int) (own []Field) {
	for _, f := range d.Fields {
		if f.Role == d.place(i) {
			own = append(own, f)
		}
	}
	return own
}

// place returns the role or address that fields use for the signer at index i.
func (d Document) place(i int) string {
	if d.Kind == KindTemplate {
		return d.Signers[i].RoleTitle
	}
	return d.Signers[i].Email
}

// fill checks the values of the signer at index i against the fields, and returns them in the order
// of the fields.
func (d Document) fill(i int, entered []FieldValue) ([]FieldValue, error) {
	if err := CheckCount("Fields", len(entered), MaxList); err != nil {
		return nil, err
	}
	own, values := d.FieldsOf(i), []FieldValue(nil)
	for j, v := range entered {
		if slices.ContainsFunc(entered[:j], func(other FieldValue) bool { return v.Name != "" && other.Name == v.Name }) {
			return nil, invalidValue(v.Name, "is filled in twice")
		}
		if len(d.Fields) == 0 && v.Name == "" {
			if err := v.check(fmt.Sprintf("Fields[%d].", j)); err != nil {
				return nil, err
			}
			v.Signer = d.Signers[i].ID
			values = append(values, v)
		} else if !slices.ContainsFunc(own, func(f Field) bool { return f.Name == v.Name }) {
			return nil, d.noField(i, v.Name)
		}
	}
	for _, f := range own {
		j := slices.IndexFunc(entered, func(v FieldValue) bool { return v.Name == f.Name })
		v := FieldValue{}
		if j >= 0 {
			v = entered[j]
		}
		if err := f.check(v); err != nil {
			return nil, err
		}
		if j >= 0 {
			values = append(values, FieldValue{
				Signer: d.Signers[i].ID, Name: f.Name, Kind: string(f.Kind), Page: f.Page, Label: f.Name, Value: v.Value, Image: v.Image,
			})
		}
	}
	return values, nil
}

// noField returns an error with the names that the signer could have used.
func (d Document) noField(i int, name string) error {
	var own []string
	for _, f := range d.FieldsOf(i) {
		own = append(own, f.Name)
	}
	if slices.ContainsFunc(d.Fields, func(f Field) bool { return f.Name == name }) {
		return invalidValue(name, "is for another signer; this one fills in %s", Quoted(own))
	}
	return invalidValue(name, "is not a field of the document; this signer fills in %s", Quoted(own))
}

// check checks the lengths of a value in a document without fields. at is the path of the value in the request.
func (v FieldValue) check(at string) error {
	if err := checkNames(named{at + "Kind", v.Kind}, named{at + "Label", v.Label}); err != nil {
		return err
	}
	if len(v.Image.Data) > 0 {
		switch picture := unpack(v.Image.Data); {
		case picture == nil:
			return &Invalid{Field: at + "Image", Problem: fmt.Sprintf("must be a PNG of at most %d bytes and %d pixels", maxImage, maxPixels)}
		case inkOf(picture).Empty():
			return &Invalid{Field: at + "Image", Problem: noInk}
		}
	}
	return CheckLength(at+"Value", v.Value, MaxText)
}

// check checks that a value has the field's kind. A missing value is the zero value.
func (f Field) check(v FieldValue) error {
	empty := strings.TrimSpace(v.Value) == "" && len(v.Image.Data) == 0
	_, noDate := time.Parse(time.DateOnly, v.Value)
	long := tooLong(v.Value, MaxText)
	var picture image.Image
	var ink image.Rectangle
	if f.Kind.drawn() && len(v.Image.Data) > 0 {
		if picture = unpack(v.Image.Data); picture != nil {
			ink = inkOf(picture)
		}
	}
	switch {
	case f.Required && (empty || f.Kind == FieldCheckbox && v.Value == "false"):
		return invalidValue(f.Name, "must be filled in")
	case long != "":
		return invalidValue(f.Name, "%s", long)
	case !utf8.ValidString(v.Value):
		return invalidValue(f.Name, "must be UTF-8 text")
	case len(v.Image.Data) > 0 && picture == nil:
		return invalidValue(f.Name, "may have a picture only as a PNG of at most %d bytes and %d pixels, and only as a signature or initials", maxImage, maxPixels)
	case picture != nil && ink.Empty():
		return invalidValue(f.Name, noInk)
	case picture != nil && f.Kind == FieldSignature && isDot(ink, picture.Bounds()):
		return invalidValue(f.Name, aDot)
	case empty:
		return nil
	case f.Kind == FieldDate && noDate != nil:
		return invalidValue(f.Name, "must be a date as in 2006-01-02")
	case f.Kind == FieldCheckbox && v.Value != "true" && v.Value != "false":
		return invalidValue(f.Name, `must be "true" or "false"`)
	}
	return nil
}

// invalidValue is the error for one field, without the entered value.
func invalidValue(name, format string, args ...any) error {
	return &Invalid{Field: "fields", Problem: fmt.Sprintf("%.64q ", name) + fmt.Sprintf(format, args...)}
}
