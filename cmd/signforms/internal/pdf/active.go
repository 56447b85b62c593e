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

// Where actions stand: under actionKeys, and under triggers in the dictionary of AA. There only passive stays.
var (
	actionKeys = []string{"A", "PA", "OpenAction", "Next"}
	triggers   = []string{"E", "X", "D", "U", "Fo", "Bl", "PO", "PC", "PV", "PI", "O", "C", "K", "F", "V", "WC", "WS", "DS", "WP", "DP"}
)

// media are annotations that play or attach something.
var media = []string{"FileAttachment", "Screen", "Movie", "Sound", "RichMedia", "3D"}

// deactivate removes what a viewer would carry out, open or hand over when the finished file is opened or clicked. It returns what that
// was, sorted, in the words of PDF.
func deactivate(ctx *model.Context) []string {
	s := sweeper{ctx: ctx, removed: map[string]bool{}}
	if root, err := ctx.Catalog(); err == nil {
		s.cut(root, "AF", "attached files")
		s.cut(root, "Collection", "attached files")
		s.cut(root, "Perms", "signatures")
		s.cut(root, "DSS", "signatures")
		for _, key := range []string{"DPartRoot", "Extensions", "Requirements", "SpiderInfo", "URI"} {
			s.cut(root, key, key)
		}
		if names, err := ctx.DereferenceDict(root["Names"]); err == nil {
			s.cut(names, "JavaScript", "JavaScript")
			if s.emptyTree(names["EmbeddedFiles"]) { // as fpdf writes
				delete(names, "EmbeddedFiles")
			}
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

// keep removes the other entries of a dictionary.
func keep(d types.Dict, keys ...string) {
	maps.DeleteFunc(d, func(key string, _ types.Object) bool { return !slices.Contains(keys, key) })
}

// emptyTree reports whether a name tree has no names.
func (s *sweeper) emptyTree(o types.Object) bool {
	d := s.dictionary(o)
	names, list := s.resolve(d["Names"]).(types.Array)
	return list && len(names) == 0 && d["Kids"] == nil
}

func (s *sweeper) sweep(o types.Object) types.Object {
	switch o := o.(type) {
	case types.Dict:
		s.dict(o)
	case types.StreamDict:
		s.cut(o.Dict, "F", "content of other files") // the content of the stream, then
		s.cut(o.Dict, "Ref", "content of other files")
		s.cut(o.Dict, "OPI", "content of other files")
		s.cut(o.Dict, "PS", "PostScript")
		s.cut(o.Dict, "Subtype2", "PostScript")
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
	if s.name(d["S"]) == passive {
		keep(d, "Type", "S", "D", "Next")
	}
	for key, value := range d {
		if what := s.active(key, value); what != "" {
			s.cut(d, key, what)
			continue
		}
		d[key] = s.sweep(value)
	}
	aa := s.dictionary(d["AA"])
	for _, key := range triggers {
		if !s.mayAct(aa[key]) {
			s.cut(aa, key, s.actionType(aa[key]))
		}
	}
	if len(aa) == 0 {
		delete(d, "AA")
	}
	if s.ofDictionaries(d["AF"]) {
		s.cut(d, "AF", "attached files")
	}
	if s.ofDictionaries(d["AS"]) {
		s.cut(d, "AS", "automatic layers")
	}
}

// ofDictionaries reports whether an object is an array that no name begins. Those that a name begins are colour spaces, whose keys
// are free.
func (s *sweeper) ofDictionaries(o types.Object) bool {
	list, ok := s.resolve(o).(types.Array)
	return ok && (len(list) == 0 || s.name(list[0]) == "")
}

// active returns what a value under a key is, or "" if it may stay.
func (s *sweeper) active(key string, o types.Object) string {
	d := s.dictionary(o)
	action, subtype := s.name(d["S"]), s.name(d["Subtype"])
	switch {
	case slices.Contains(actions, action):
		return action
	case slices.Contains(actionKeys, key) && !s.mayAct(o):
		return s.actionType(o)
	case slices.Contains(media, subtype):
		return s.still(d, subtype)
	case subtype == "PS":
		return "PostScript"
	case d["EF"] != nil:
		return "attached files"
	case d["ByteRange"] != nil:
		return "signatures"
	}
	return ""
}

// still makes an annotation that plays or attaches something one that only looks as it did. It returns the subtype if there is no
// such look.
func (s *sweeper) still(d types.Dict, subtype string) string {
	if s.dictionary(d["AP"]) == nil {
		return subtype
	}
	keep(d, "Type", "Rect", "F", "AP", "AS", "OC")
	d["Subtype"] = types.Name("Stamp")
	s.removed[subtype] = true
	return ""
}

// mayAct reports whether a value may stand where an action stands. Other things share the keys of actions, but have no S: the next
// bookmark, the attributes of a paragraph.
func (s *sweeper) mayAct(o types.Object) bool {
	switch o := s.resolve(o).(type) {
	case types.StreamDict:
		return false
	case types.Array:
		return !slices.ContainsFunc(o, func(element types.Object) bool {
			_, list := s.resolve(element).(types.Array)
			return !list && !s.mayAct(element)
		})
	case types.Dict:
		if o["S"] == nil {
			return s.name(o["Type"]) != "Action" && o["JS"] == nil && o["URI"] == nil
		}
		return s.name(o["S"]) == passive
	}
	return true
}

// actionType returns the type of an action that must go.
func (s *sweeper) actionType(o types.Object) string {
	if action := s.name(s.dictionary(o)["S"]); slices.Contains(actions, action) {
		return action
	}
	return "unknown action"
}

// resolve follows references, to null when they do not end.
func (s *sweeper) resolve(o types.Object) types.Object {
	for range 100 {
		if _, ok := o.(types.IndirectRef); !ok {
			return o
		}
		var err error
		if o, err = s.ctx.Dereference(o); err != nil {
			return nil
		}
	}
	return nil
}

// dictionary returns a dictionary, that of a stream too, or nil.
func (s *sweeper) dictionary(o types.Object) types.Dict {
	switch o := s.resolve(o).(type) {
	case types.Dict:
		return o
	case types.StreamDict:
		return o.Dict
	}
	return nil
}

// name returns a name, or "".
func (s *sweeper) name(o types.Object) string {
	name, _ := s.resolve(o).(types.Name)
	return string(name)
}
