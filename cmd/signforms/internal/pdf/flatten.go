package pdf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// The flags of annotations that are not on the screen.
const hidden, noView = 2, 32

// flattener moves what annotations show into the content of their pages, below the marks: viewers draw annotations above. Only links
// stay, and show nothing.
type flattener struct {
	sweeper
	redraw bool         // whether viewers draw fields anew, whatever their appearance
	flat   []types.Dict // the annotations that are on no page now
}

func newFlattener(ctx *model.Context) *flattener {
	f := &flattener{sweeper: sweeper{ctx: ctx, removed: map[string]bool{}}}
	redraw, _ := f.resolve(f.dictionary(ctx.RootDict["AcroForm"])["NeedAppearances"]).(types.Boolean)
	f.redraw = bool(redraw)
	return f
}

// finish empties the annotations, which forms and the structure of the document may still refer to, and removes the form.
func (f *flattener) finish() {
	delete(f.ctx.RootDict, "AcroForm")
	for _, d := range f.flat {
		keep(d, "Type", "Subtype", "Rect")
	}
}

// page returns what draws the annotations of a page, and adds the objects for it to resources.
func (f *flattener) page(page, resources types.Dict) (string, error) {
	var drawing strings.Builder
	list, _ := f.resolve(page["Annots"]).(types.Array)
	links, forms, layers := types.Array{}, resources["XObject"].(types.Dict), types.Dict{}
	for i, element := range list {
		d := f.dictionary(element)
		if d == nil {
			continue
		}
		subtype := f.name(d["Subtype"])
		drawn, err := f.draw(d, i, forms, layers)
		if err != nil {
			return "", err
		}
		drawing.WriteString(drawn)
		if subtype == "Link" {
			keep(d, "Type", "Subtype", "Rect", "QuadPoints", "F", "H", "P", "StructParent", "Contents", "A", "PA", "Dest")
			d["Border"] = types.NewIntegerArray(0, 0, 0)
			links = append(links, element)
			continue
		}
		if f.hasText(d) {
			return "", fmt.Errorf("%w (%s)", ErrUndrawn, subtype)
		}
		if _, states := f.look(d).(types.Dict); drawn == "" && !states && subtype != "Popup" {
			f.removed[subtype] = true
		}
		f.flat = append(f.flat, d)
	}
	delete(page, "Annots")
	if len(links) > 0 {
		page["Annots"] = links
	}
	if len(layers) > 0 {
		resources["Properties"] = layers
	}
	return drawing.String(), nil
}

// hasText reports whether a viewer writes a text of an annotation that its appearance lacks.
func (f *flattener) hasText(d types.Dict) bool {
	var text types.Object
	switch field := f.name(f.inherited(d, "FT")); {
	case f.isHidden(d):
	case f.name(d["Subtype"]) == "Widget" && (field == "Tx" || field == "Ch") && (f.redraw || f.look(d) == nil):
		text = f.inherited(d, "V")
	case f.name(d["Subtype"]) == "FreeText" && f.look(d) == nil:
		text = f.resolve(d["Contents"])
	}
	return text != nil && text != types.StringLiteral("") && text != types.HexLiteral("")
}

// look returns what an annotation looks like: a stream, a dictionary with one for each state, or nil.
func (f *flattener) look(d types.Dict) types.Object { return f.resolve(f.dictionary(d["AP"])["N"]) }

// inherited returns an entry of a field, or of those above it.
func (f *flattener) inherited(d types.Dict, key string) types.Object {
	for range 100 {
		if o := f.resolve(d[key]); o != nil || d == nil {
			return o
		}
		d = f.dictionary(d["Parent"])
	}
	return nil
}

func (f *flattener) isHidden(d types.Dict) bool {
	flags, _ := f.resolve(d["F"]).(types.Integer)
	return flags&(hidden|noView) != 0
}

// draw returns what draws annotation number i, or "" if it shows nothing (ISO 32000-2, 12.5.5).
func (f *flattener) draw(d types.Dict, i int, forms, layers types.Dict) (string, error) {
	look, ok := f.look(d).(types.StreamDict)
	if states, several := f.look(d).(types.Dict); several {
		look, ok = f.resolve(states[f.name(d["AS"])]).(types.StreamDict)
	}
	rect, box := f.numbers(d["Rect"]), f.corners(look.Dict)
	if !ok || f.isHidden(d) || len(rect) != 4 || len(box) != 8 {
		return "", nil
	}
	left, bottom, width, height := around([]float64{rect[0], rect[2]}, []float64{rect[1], rect[3]})
	fromLeft, fromBottom, fromWidth, fromHeight := around(box[:4], box[4:])
	if fromWidth <= 0 || fromHeight <= 0 {
		return "", nil
	}
	look.Dict = maps.Clone(look.Dict) // the original may be something else elsewhere
	look.Dict["Type"], look.Dict["Subtype"] = types.Name("XObject"), types.Name("Form")
	name := fmt.Sprintf("A%d", i)
	var err error
	if forms[name], err = insert(f.ctx, look); err != nil {
		return "", err
	}
	sx, sy := width/fromWidth, height/fromHeight
	drawing := fmt.Sprintf("q %f 0 0 %f %f %f cm /%s Do Q\n", sx, sy, left-sx*fromLeft, bottom-sy*fromBottom, name)
	if d["OC"] != nil {
		layers[name] = d["OC"]
		drawing = fmt.Sprintf("/OC /%s BDC\n%sEMC\n", name, drawing)
	}
	return drawing, nil
}

// corners returns where a form's matrix maps the corners of its box: four times x, then four times y, or nil if it has no box.
func (f *flattener) corners(form types.Dict) []float64 {
	box, m := f.numbers(form["BBox"]), f.numbers(form["Matrix"])
	if len(box) != 4 {
		return nil
	}
	if len(m) != 6 {
		m = []float64{1, 0, 0, 1, 0, 0}
	}
	all := make([]float64, 8)
	for i := range 4 {
		x, y := box[i%2*2], box[i/2*2+1]
		all[i], all[4+i] = m[0]*x+m[2]*y+m[4], m[1]*x+m[3]*y+m[5]
	}
	return all
}

// around returns the rectangle around points.
func around(xs, ys []float64) (left, bottom, width, height float64) {
	left, bottom = slices.Min(xs), slices.Min(ys)
	return left, bottom, slices.Max(xs) - left, slices.Max(ys) - bottom
}

// numbers returns the numbers of an array, or nil if it has other elements.
func (f *flattener) numbers(o types.Object) (all []float64) {
	list, _ := f.resolve(o).(types.Array)
	for _, element := range list {
		n, err := f.ctx.DereferenceNumber(element)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}
