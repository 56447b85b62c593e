package pdf

import (
	"maps"
	"slices"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// passive is the one action that stays: it shows another place of the same file.
const passive = "GoTo"

// actions are the other types of actions (ISO 32000-2, table 201).
var actions = []string{
	"GoToR", "GoToE", "GoToDp", "Launch", "Thread", "URI", "Sound", "Movie", "Hide", "Named", "SubmitForm", "ResetForm", "ImportData",
	"SetOCGState", "Rendition", "Trans", "GoTo3DView", "JavaScript", "RichMediaExecute",
}

// actionKeys are where actions stand. There an action of an unknown type is removed, too.
var actionKeys = []string{"A", "PA", "OpenAction", "Next"}

// media are annotations that play or attach something.
var media = []string{"FileAttachment", "Screen", "Movie", "Sound", "RichMedia", "3D"}

// deactivate removes what a viewer would carry out, open or hand over when the finished file is opened or clicked. It returns what that
// was, sorted, in the words of PDF.
func deactivate(ctx *model.Context) []string {
	s := sweeper{ctx: ctx, removed: map[string]bool{}}
	if root, err := ctx.Catalog(); err == nil {
		s.cut(root, "AF", "attached files")
		s.cut(root, "Collection", "attached files")
		if names, err := ctx.DereferenceDict(root["Names"]); err == nil {
			s.cut(names, "JavaScript", "JavaScript")
			s.cut(names, "EmbeddedFiles", "attached files")
			s.cut(names, "Renditions", "Rendition")
			s.cut(names, "AlternatePresentations", "AlternatePresentations")
		}
		if form, err := ctx.DereferenceDict(root["AcroForm"]); err == nil {
			s.cut(form, "XFA", "XFA")
		}
	}
	for _, entry := range ctx.Table {
		entry.Object = s.sweep(entry.Object)
	}
	return slices.Sorted(maps.Keys(s.removed))
}

// sweeper visits each object once. References are not followed: what they lead to is visited by itself.
type sweeper struct {
	ctx     *model.Context
	removed map[string]bool
}

// cut removes an entry of a dictionary, which may be nil.
func (s *sweeper) cut(d types.Dict, key, what string) {
	if _, there := d[key]; there {
		delete(d, key)
		s.removed[what] = true
	}
}

func (s *sweeper) sweep(o types.Object) types.Object {
	switch o := o.(type) {
	case types.Dict:
		s.dict(o)
	case types.StreamDict:
		s.dict(o.Dict)
	case types.Array:
		kept := types.Array{}
		for _, element := range o {
			if what := s.active("", element); what != "" {
				s.removed[what] = true
				continue
			}
			kept = append(kept, s.sweep(element))
		}
		return kept
	}
	return o
}

func (s *sweeper) dict(d types.Dict) {
	for key, value := range d {
		if what := s.active(key, value); what != "" {
			s.cut(d, key, what)
			continue
		}
		d[key] = s.sweep(value)
	}
}

// active returns what a value under a key is, or "" if it may stay.
func (s *sweeper) active(key string, o types.Object) string {
	d, err := s.ctx.DereferenceDict(o)
	if err != nil || d == nil {
		return ""
	}
	action, subtype := d.NameEntry("S"), d.Subtype()
	switch {
	case action != nil && slices.Contains(actions, *action):
		return *action
	case action != nil && *action != passive && slices.Contains(actionKeys, key):
		return "unknown action"
	case subtype != nil && slices.Contains(media, *subtype):
		return *subtype
	case d["EF"] != nil:
		return "attached files"
	}
	return ""
}
