package pdf

import (
	"errors"
	"fmt"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// stampInto draws the marks, and the footer at the bottom of every page, over the pages of ctx. Each page then draws a
// form with all that it drew before, and a form with the marks. What one leaves behind cannot reach the next: a
// transformation, a clip, a hidden layer, half a text. Tags for screen readers go. Annotations stay, and viewers draw
// them over the marks.
func stampInto(ctx *model.Context, sheets []sheet, marks []Mark, footer string) error {
	overlay, err := drawOverlay(sheets, marks, footer)
	if err != nil {
		return err
	}
	drawn, err := readValid(overlay)
	if err != nil {
		return err
	}
	g := graft{from: drawn, to: ctx, moved: map[int]types.IndirectRef{}}
	for i, s := range sheets {
		if err := g.page(i+1, s); err != nil {
			return fmt.Errorf("%w (page %d)", err, i+1)
		}
	}
	root, err := ctx.Catalog()
	if err != nil {
		return err
	}
	delete(root, "StructTreeRoot") // its tags are of the pages, and not of the forms on them
	delete(root, "MarkInfo")
	ctx.EnsureVersionForWriting()
	return nil
}

// matrix maps the upright page, as a viewer shows it, to the page as it is stored.
func (s sheet) matrix() types.Array {
	left, bottom, right, top := s.box.LL.X, s.box.LL.Y, s.box.UR.X, s.box.UR.Y
	switch s.rotate {
	case 90:
		return types.NewNumberArray(0, 1, -1, 0, right, bottom)
	case 180:
		return types.NewNumberArray(-1, 0, 0, -1, right, top)
	case 270:
		return types.NewNumberArray(0, -1, 1, 0, left, top)
	}
	return types.NewNumberArray(1, 0, 0, 1, left, bottom)
}

// graft copies objects from one file into another. moved holds the references to copies, by the numbers of the
// originals.
type graft struct {
	from, to *model.Context
	moved    map[int]types.IndirectRef
}

// page draws page n of g.from over page n of g.to.
func (g graft) page(n int, s sheet) error {
	_, marks, err := pageForm(g.from, n)
	if err != nil {
		return err
	}
	copied, err := g.copy(*marks)
	if err != nil {
		return err
	}
	over := copied.(types.StreamDict)
	over.Dict["Matrix"] = s.matrix()
	page, before, err := pageForm(g.to, n)
	if err != nil {
		return err
	}
	objects := types.Dict{}
	resources := types.Dict{"XObject": objects}
	drawing := "q /Marks Do Q\n"
	if objects["Marks"], err = insert(g.to, over); err != nil {
		return err
	}
	if before != nil {
		drawing = "q /Page Do Q\n" + drawing
		if objects["Page"], err = insert(g.to, *before); err != nil {
			return err
		}
	}
	content, err := stream(g.to, []byte(drawing))
	if err != nil {
		return err
	}
	if page["Contents"], err = insert(g.to, *content); err != nil {
		return err
	}
	page["Resources"] = resources
	page["Rotate"], page["CropBox"] = types.Integer(s.rotate), s.box.Array()
	delete(page, "StructParents")
	return nil
}

// pageForm returns a page, and a form that draws what the page draws, or nil if it draws nothing.
func pageForm(ctx *model.Context, n int) (types.Dict, *types.StreamDict, error) {
	page, _, inherited, err := ctx.PageDict(n, false)
	if err != nil {
		return nil, nil, err
	}
	if inherited.MediaBox == nil {
		return nil, nil, errors.New("it has no size")
	}
	content, err := pageContent(ctx, n, page)
	if err != nil || content == nil {
		return page, nil, err
	}
	form := *content
	form.Dict = types.Dict{"Type": types.Name("XObject"), "Subtype": types.Name("Form"), "BBox": inherited.MediaBox.Array(), "Resources": types.Dict{}}
	if inherited.Resources != nil {
		form.Dict["Resources"] = inherited.Resources
	}
	for _, key := range []string{"Filter", "DecodeParms", "Length"} {
		if value, there := content.Dict[key]; there {
			form.Dict[key] = value
		}
	}
	return page, &form, nil
}

// pageContent returns the content of a page as one stream, or nil.
func pageContent(ctx *model.Context, n int, page types.Dict) (*types.StreamDict, error) {
	content, err := ctx.Dereference(page["Contents"])
	if err != nil {
		return nil, err
	}
	switch content := content.(type) {
	case nil:
		return nil, nil
	case types.StreamDict:
		return &content, nil
	}
	parts, _ := content.(types.Array)
	var all []byte
	for _, part := range parts {
		text, err := ctx.PageContent(types.Dict{"Contents": part}, n)
		if err != nil && !errors.Is(err, model.ErrNoContent) {
			return nil, err
		}
		all = append(append(all, text...), '\n') // no word goes on in the next part
	}
	return stream(ctx, all)
}

func stream(ctx *model.Context, content []byte) (*types.StreamDict, error) {
	s, err := ctx.NewStreamDictForBuf(content)
	if err != nil {
		return nil, err
	}
	return s, s.Encode()
}

func insert(ctx *model.Context, o types.Object) (types.IndirectRef, error) {
	ref, err := ctx.IndRefForNewObject(o)
	if err != nil {
		return types.IndirectRef{}, err
	}
	return *ref, nil
}

// copy copies an object, and each object that it refers to once.
func (g graft) copy(o types.Object) (types.Object, error) {
	switch o := o.(type) {
	case types.IndirectRef:
		number := o.ObjectNumber.Value()
		if ref, done := g.moved[number]; done {
			return ref, nil
		}
		ref, err := insert(g.to, nil)
		if err != nil {
			return nil, err
		}
		g.moved[number] = ref
		original, err := g.from.Dereference(o)
		if err != nil {
			return nil, err
		}
		g.to.Table[ref.ObjectNumber.Value()].Object, err = g.copy(original)
		return ref, err
	case types.StreamDict:
		dict, err := g.copy(o.Dict)
		if err != nil {
			return nil, err
		}
		o.Dict = dict.(types.Dict)
		return o, nil
	case types.Dict:
		to := types.Dict{}
		for key, value := range o {
			var err error
			if to[key], err = g.copy(value); err != nil {
				return nil, err
			}
		}
		return to, nil
	case types.Array:
		to := make(types.Array, len(o))
		for i, element := range o {
			var err error
			if to[i], err = g.copy(element); err != nil {
				return nil, err
			}
		}
		return to, nil
	}
	return o, nil
}
