package signing_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	imagepng "image/png"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// png is a picture.
var png = pngOf(100, 40)

// pngOf returns a picture, or the beginning of one if it claims to be larger than pictures may be.
func pngOf(width, height uint32) string {
	if width > 0 && height > 0 && uint64(width)*uint64(height) <= 4_000_000 {
		var out bytes.Buffer
		_ = imagepng.Encode(&out, image.NewGray(image.Rect(0, 0, int(width), int(height)))) // a Buffer takes everything
		return out.String()
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), width), height)
	header = append(header, 8, 6, 0, 0, 0)
	return "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d" + string(binary.BigEndian.AppendUint32(header, crc32.ChecksumIEEE(header)))
}

// painted returns a picture of one colour.
func painted(all color.Color) []byte { return inked(image.Rect(0, 0, 30, 20), all) }

// inked is a PNG of 30 × 20 pixels of which a part has this colour.
func inked(part image.Rectangle, all color.Color) []byte {
	picture := image.NewNRGBA(image.Rect(0, 0, 30, 20))
	draw.Draw(picture, part, image.NewUniform(all), image.Point{}, draw.Src)
	var out bytes.Buffer
	_ = imagepng.Encode(&out, picture) // a Buffer takes everything
	return out.Bytes()
}

// contract has fields of every kind for Ann, who must fill in three, and one for Ben.
func contract(t *testing.T) signing.Document {
	t.Helper()
	place := signing.Field{Role: "ann@example.com", Page: 1, X: 0.1, Y: 0.2, Width: 0.3, Height: 0.05}
	field := func(name string, kind signing.FieldKind, required bool) signing.Field {
		f := place
		f.Name, f.Kind, f.Required = name, kind, required
		return f
	}
	fields := []signing.Field{
		field("Ann signs", signing.FieldSignature, true), field("Ann's initials", signing.FieldInitials, false),
		field("Company", signing.FieldText, true), field("Day", signing.FieldDate, false), field("I agree", signing.FieldCheckbox, true),
		field("Ben's note", signing.FieldText, false),
	}
	fields[5].Role, fields[5].Page = "ben@example.com", 2
	c, err := signing.Create(signing.Document{
		Kind: signing.KindPDF, Name: "Contract", Fields: fields, PDF: signing.NewFile([]byte("%PDF of two pages")),
		Signers: []signing.Signer{{Email: "ann@example.com"}, {Email: "ben@example.com"}},
	}, signing.NewIDs(1), noon)
	require.NoError(t, err)
	c, err = c.Document.Send(noon)
	require.NoError(t, err)
	return *c.Document
}

// filled are Ann's required values, with changes by name; an empty one takes the field out.
func filled(changes map[string]string) (values []signing.FieldValue) {
	all := map[string]string{"Ann signs": "Ann", "Company": "A & B", "I agree": "true"}
	for name, value := range changes {
		all[name] = value
	}
	for _, name := range []string{"I agree", "Company", "Ann signs", "Ann's initials", "Day", "Ben's note", "Fax"} {
		if v := all[name]; v != "" {
			values = append(values, signing.FieldValue{Name: name, Value: v})
		}
	}
	return values
}

func TestField_keepsItsValue(t *testing.T) {
	d := contract(t)
	require.Len(t, d.FieldsOf(0), 5)
	require.Len(t, d.FieldsOf(1), 1)
	values := append(filled(map[string]string{"Day": "2026-11-18"}), signing.FieldValue{Name: "Ann's initials", Image: signing.NewFile([]byte(png))})
	c, err := d.Sign("ann@example.com", signing.SignParams{Values: values}, noon)
	require.NoError(t, err)
	ann := d.Signers[0].ID
	require.Equal(t, []signing.FieldValue{
		{Signer: ann, Name: "Ann signs", Kind: "signature", Page: 1, Label: "Ann signs", Value: "Ann"},
		{Signer: ann, Name: "Ann's initials", Kind: "initials", Page: 1, Label: "Ann's initials", Image: signing.NewFile([]byte(png))},
		{Signer: ann, Name: "Company", Kind: "text", Page: 1, Label: "Company", Value: "A & B"},
		{Signer: ann, Name: "Day", Kind: "date", Page: 1, Label: "Day", Value: "2026-11-18"},
		{Signer: ann, Name: "I agree", Kind: "checkbox", Page: 1, Label: "I agree", Value: "true"},
	}, c.Document.Values, "in the document's order")
	require.Empty(t, d.Values, "the record before is as it was")
	c, err = c.Document.Sign("ben@example.com", signing.SignParams{}, noon)
	require.NoError(t, err, "what is not required may stay empty")
	require.Len(t, c.Document.Values, 5)
}

func TestField_refusesWrongValues(t *testing.T) {
	all := `"Ann signs", "Ann's initials", "Company", "Day", "I agree"`
	for _, c := range []struct {
		name   string
		values []signing.FieldValue
		want   string
	}{
		{name: "nothing", values: nil, want: `fields: "Ann signs" must be filled in`},
		{name: "blank", values: filled(map[string]string{"Company": " \n"}), want: `fields: "Company" must be filled in`},
		{name: "not agreed", values: filled(map[string]string{"I agree": "false"}), want: `fields: "I agree" must be filled in`},
		{name: "unknown", values: filled(map[string]string{"Fax": "1"}),
			want: `fields: "Fax" is not a field of the document; this signer fills in ` + all},
		{name: "unnamed", values: append(filled(nil), signing.FieldValue{Kind: "text", Label: "x"}),
			want: `fields: "" is not a field of the document; this signer fills in ` + all},
		{name: "another's", values: filled(map[string]string{"Ben's note": "x"}),
			want: `fields: "Ben's note" is for another signer; this one fills in ` + all},
		{name: "twice", values: append(filled(nil), signing.FieldValue{Name: "Company", Value: "C"}), want: `fields: "Company" is filled in twice`},
		{name: "date", values: filled(map[string]string{"Day": "18.11.2026"}), want: `fields: "Day" must be a date as in 2006-01-02`},
		{name: "checkbox", values: filled(map[string]string{"I agree": "on"}), want: `fields: "I agree" must be "true" or "false"`},
		{name: "long", values: filled(map[string]string{"Company": strings.Repeat("x", 10_001)}),
			want: `fields: "Company" has 10001 characters, and may have 10000 at most: shorten it`},
		{name: "not UTF-8", values: filled(map[string]string{"Company": "a\xff"}),
			want: `fields: "Company" must be UTF-8 text`},
		{name: "no PNG", values: append(filled(nil), signing.FieldValue{Name: "Ann's initials", Image: signing.NewFile([]byte("GIF89a"))}),
			want: `fields: "Ann's initials" may have a picture only as a PNG of at most 1048576 bytes and 4000000 pixels, and only as a signature or initials`},
		{name: "half a PNG", values: append(filled(nil), signing.FieldValue{Name: "Ann's initials", Image: signing.NewFile([]byte(png[:len(png)*2/3]))}),
			want: `fields: "Ann's initials" may have a picture only as a PNG of at most 1048576 bytes and 4000000 pixels, and only as a signature or initials`},
		{name: "too many pixels", values: append(filled(nil), signing.FieldValue{Name: "Ann's initials", Image: signing.NewFile([]byte(pngOf(9000, 9000)))}),
			want: `fields: "Ann's initials" may have a picture only as a PNG of at most 1048576 bytes and 4000000 pixels, and only as a signature or initials`},
		{name: "empty picture", values: append(filled(nil), signing.FieldValue{Name: "Ann's initials", Image: signing.NewFile(painted(color.Transparent))}),
			want: `fields: "Ann's initials" has a picture in which nothing can be seen on white paper: draw it again`},
		{name: "white picture", values: append(filled(nil), signing.FieldValue{Name: "Ann's initials", Image: signing.NewFile(painted(color.White))}),
			want: `fields: "Ann's initials" has a picture in which nothing can be seen on white paper: draw it again`},
		{name: "dot", values: append(filled(map[string]string{"Ann signs": ""}), signing.FieldValue{Name: "Ann signs", Image: signing.NewFile(inked(image.Rect(9, 9, 11, 10), color.Black))}),
			want: `fields: "Ann signs" has a picture with little more than a dot: a signature is at least a tenth as wide or as high as its picture`},
		{name: "picture of a date", values: append(filled(nil), signing.FieldValue{Name: "Day", Image: signing.NewFile([]byte(png))}),
			want: `fields: "Day" may have a picture only as a PNG of at most 1048576 bytes and 4000000 pixels, and only as a signature or initials`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := contract(t).Sign("ann@example.com", signing.SignParams{Values: c.values}, noon)
			require.EqualError(t, err, c.want)
		})
	}
	_, err := sent(t, false).Sign("ann@example.com", signing.SignParams{Values: []signing.FieldValue{{Name: "Fax"}}}, noon)
	require.EqualError(t, err, `fields: "Fax" is not a field of the document; this signer fills in none`)
}

func TestInstantiate_copiesPDFAndFields(t *testing.T) {
	template := lease
	template.PDF = signing.NewFile([]byte("%PDF-1.4 template"))
	template.Fields = []signing.Field{{Name: "Rent", Role: "Tenant", Kind: signing.FieldText, Required: true, Page: 1, Width: 1, Height: 1}}
	c, err := template.Instantiate(params(), signing.NewIDs(1), noon)
	require.NoError(t, err)
	require.Equal(t, template.PDF, c.Document.PDF)
	require.Equal(t, template.Fields, c.Document.FieldsOf(0), "Ann is the tenant")
	require.Empty(t, c.Document.FieldsOf(1))
	p := params()
	p.PDF = []byte("%PDF-1.4 this one")
	c, err = template.Instantiate(p, signing.NewIDs(1), noon)
	require.NoError(t, err)
	require.Equal(t, p.PDF, c.Document.PDF.Data)
}

func TestField_invalid(t *testing.T) {
	ok := signing.Field{Name: "x", Role: "ann@example.com", Kind: signing.FieldText, Page: 1, X: 0.5, Y: 0.5, Width: 0.5, Height: 0.5}
	for _, c := range []struct {
		name   string
		change func(*signing.Field)
		want   string
	}{
		{name: "name", change: func(f *signing.Field) { f.Name = "" }, want: "Fields[1].Name: is empty"},
		{name: "same name", change: func(f *signing.Field) { f.Name = "x" },
			want: `Fields[1].Name: is "x" like that of another field: each needs its own`},
		{name: "role", change: func(f *signing.Field) { f.Role = "Ann" }, want: `Fields[1].Role: is "Ann", which is not one of "ann@example.com"`},
		{name: "kind", change: func(f *signing.Field) { f.Kind = "stamp" },
			want: `Fields[1].Kind: is "stamp", which is not one of "signature", "initials", "text", "date", "checkbox"`},
		{name: "page", change: func(f *signing.Field) { f.Page = 0 }, want: "Fields[1].Page: is 0: the first page is 1"},
		{name: "page without a PDF", change: func(f *signing.Field) { f.Page = 2 }, want: "Fields[1].Page: is 2: without a PDF there is one page"},
		{name: "left", change: func(f *signing.Field) { f.X = -0.1 },
			want: "Fields[1].X: is the left edge of a field that has no size, or that is not all on its page: place and size are fractions of the page"},
		{name: "right", change: func(f *signing.Field) { f.Width = 0.51 },
			want: "Fields[1].X: is the left edge of a field that has no size, or that is not all on its page: place and size are fractions of the page"},
		{name: "flat", change: func(f *signing.Field) { f.Height = 0 },
			want: "Fields[1].X: is the left edge of a field that has no size, or that is not all on its page: place and size are fractions of the page"},
		{name: "not a number", change: func(f *signing.Field) { f.Y = math.NaN() },
			want: "Fields[1].X: is the left edge of a field that has no size, or that is not all on its page: place and size are fractions of the page"},
	} {
		t.Run(c.name, func(t *testing.T) {
			second := ok
			second.Name = "y"
			c.change(&second)
			d := signing.Document{Kind: signing.KindPDF, Fields: []signing.Field{ok, second}, Signers: []signing.Signer{{Email: "ann@example.com"}}}
			_, err := signing.Create(d, signing.NewIDs(1), noon)
			require.EqualError(t, err, c.want)
		})
	}
}

func TestForm_answersByKindOfQuestion(t *testing.T) {
	f := signing.Form{Fields: []signing.FormField{
		{ID: "q1", Question: "Name", Required: true}, {ID: "q2", Question: "Story", Kind: signing.QuestionLongText},
		{ID: "q3", Question: "Size", Kind: signing.QuestionChoice, Choices: []string{"S", "L"}},
		{ID: "q4", Question: "Born", Kind: signing.QuestionDate}, {ID: "q5", Question: "Agreed", Kind: signing.QuestionCheckbox, Required: true},
	}}
	require.NoError(t, f.Check())
	submit := func(changes map[string]string) error {
		p := signing.SubmitParams{From: signing.Origin{IP: "192.0.2.9", UserAgent: "browser"}}
		for id, answer := range map[string]string{"q1": "Ann", "q3": "L", "q4": "1990-02-28", "q5": "true"} {
			if changed, ok := changes[id]; ok {
				answer = changed
			}
			p.Answers = append(p.Answers, signing.FormAnswer{FieldID: id, Answer: answer})
		}
		c, err := f.Submit(p, signing.NewIDs(1), noon)
		if err == nil {
			require.Equal(t, p.From, c.Audit[0].Origin)
		}
		return err
	}
	require.NoError(t, submit(nil))
	require.NoError(t, submit(map[string]string{"q3": "", "q4": ""}), "what is not required may stay empty")
	for _, c := range []struct{ id, answer, want string }{
		{id: "q1", answer: " ", want: `answers: the question "Name" (field q1) needs an answer`},
		{id: "q3", answer: "M", want: `answers: the question "Size" (field q3) is answered by one of "S", "L"`},
		{id: "q4", answer: "yesterday", want: `answers: the question "Born" (field q4) is answered by a date as in 2006-01-02`},
		{id: "q5", answer: "false", want: `answers: the question "Agreed" (field q5) needs an answer`},
		{id: "q5", answer: "on", want: `answers: the question "Agreed" (field q5) is answered by "true" or "false"`},
		{id: "q1", answer: "\xff", want: `answers: the question "Name" (field q1) takes UTF-8 text`},
	} {
		t.Run(c.answer, func(t *testing.T) {
			require.EqualError(t, submit(map[string]string{c.id: c.answer}), c.want)
		})
	}
}

func TestForm_invalid(t *testing.T) {
	for _, row := range []struct {
		want   string
		second signing.FormField
	}{
		{want: "Fields[1].Question: is empty", second: signing.FormField{}},
		{want: `Fields[1].Question: is "Name" like that of another field: each needs its own`, second: signing.FormField{Question: "Name"}},
		{want: `Fields[1].Kind: is "stars", which is not one of "text", "long_text", "choice", "date", "checkbox"`, second: signing.FormField{Question: "x", Kind: "stars"}},
		{want: "Fields[1].Choices: must be there for a choice, and for nothing else", second: signing.FormField{Question: "x", Kind: signing.QuestionChoice}},
	} {
		t.Run(row.want, func(t *testing.T) {
			require.EqualError(t, signing.Form{Fields: []signing.FormField{{Question: "Name"}, row.second}}.Check(), row.want)
		})
	}
	require.Error(t, signing.Form{Fields: []signing.FormField{{Question: "x", Choices: []string{"a"}}}}.Check())
}

func TestAudit_originOfActs(t *testing.T) {
	from := signing.Origin{IP: "203.0.113.7", UserAgent: strings.Repeat("browser ", 100)}
	kept := signing.Origin{IP: from.IP, UserAgent: from.UserAgent[:512]}
	d := sent(t, false)
	viewed, err := d.View("ann@example.com", from, noon)
	require.NoError(t, err)
	signed, err := d.Sign("ann@example.com", signing.SignParams{From: from}, noon)
	require.NoError(t, err)
	declined, err := d.Decline("ann@example.com", "too late", from, noon)
	require.NoError(t, err)
	for _, c := range []signing.Change{viewed, signed, declined} {
		require.Equal(t, kept, c.Audit[0].Origin)
		require.Equal(t, from.IP, c.Document.Signers[0].IP)
	}
	require.Equal(t, "too late", declined.Audit[0].Note)
	require.Equal(t, "too late", declined.Document.Signers[0].Reason)
}
