package signpages

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/look"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

// maxBody is the maximum size of a submitted form, in bytes. Images of signatures are its largest
// part.
const maxBody = 8 << 20

// visit is a request for a signing link.
type visit struct {
	document refserver.DocumentState
	signer   refserver.SignerState
	path     string // the link's path
}

// signer finds the document and the signer of a link, and calls serve with them.
func (p *pages) signer(serve func(*pages, http.ResponseWriter, *http.Request, visit)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, ok := p.visit(r)
		if !ok {
			p.noSuchPage(w, r)
			return
		}
		if r.ContentLength > maxBody {
			p.tooLarge(w, v.document.Name)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		serve(p, w, r, v)
	}
}

// visit returns the document and the signer of a link.
func (p *pages) visit(r *http.Request) (v visit, ok bool) {
	d, id, ok := p.server.SigningLink(r.PathValue("token"))
	v = visit{document: d, path: "/sign/" + r.PathValue("token")}
	for _, s := range d.Signers {
		if s.ID == id {
			v.signer = s
		}
	}
	return v, ok
}

// The states of the signing page.
const (
	stateReady   = "ready"   // the signer may sign
	stateWaiting = "waiting" // somebody else has to sign first
	stateSigned  = "signed"  // the signer has signed, and others still have to sign
	stateEnded   = "ended"   // the document has ended
)

// signPage is the data for the template of the signing page.
type signPage struct {
	Title, Assets, Path string
	Document            refserver.DocumentState
	Signer              refserver.SignerState
	lead
	Events, Version string // Events are for an embedding page; Version changes whenever the content of the page changes
	Frames          string
	StatusClass     string
	Problem         string
	Fields          []field
	Agreed          bool
	People          []person
}

// lead is the sentence about the state of the document. Names are in its middle, so that a browser
// can detect their writing direction. Ended is the reason, for an embedding page, why this person
// can no longer sign.
type lead struct{ State, Class, Text, Names, Rest, Ended string }

// field is one field of a signer.
type field struct {
	refserver.TemplateField
	ID, Value, Image, Placeholder string
	Drawn                         bool
}

type person struct {
	Name, Role, Status, Class string
	You                       bool
	Values                    []refserver.FieldValue // values that the person entered; a drawing has no Value
}

func (p *pages) showSigning(w http.ResponseWriter, r *http.Request, v visit) {
	page := p.signPage(r, v)
	page.Events = strings.Join(events(r.URL.Query().Get("did"), v), " ")
	p.render(w, http.StatusOK, "sign", page)
}

// events returns the events for an embedding page after an act. did is the act, or "told" after the
// page has reported it. The document must show that the act happened.
func events(did string, v visit) (all []string) {
	switch {
	case did == "signed" && !v.signer.SignedAt.IsZero(), did == "declined" && !v.signer.DeclinedAt.IsZero():
		all = append(all, did)
	}
	if finished(v.document) && did != "told" {
		all = append(all, "finished")
	}
	return all
}

func finished(d refserver.DocumentState) bool { return !d.CompletedAt.IsZero() }

func (p *pages) signPage(r *http.Request, v visit) signPage {
	page := signPage{
		Title: v.document.Name, Assets: prefix, Path: v.path, Document: v.document, Signer: v.signer,
		Frames: strings.Join(p.options.Frames, " "), People: people(v), lead: leadOf(v),
		Version: version(v.document),
	}
	page.Signer.Name = nameOf(page.Signer)
	page.StatusClass = map[refserver.Status]string{
		refserver.StatusSigned: "good", refserver.StatusPaid: "good", refserver.StatusDeclined: "bad", refserver.StatusVoid: "bad",
	}[v.document.Status]
	if page.State == stateReady {
		page.Fields = fields(r, v)
		page.Agreed = r.PostFormValue("agree") == "true"
	}
	return page
}

func version(d refserver.DocumentState) string {
	signed := 0
	for _, s := range d.Signers {
		if !s.SignedAt.IsZero() {
			signed++
		}
	}
	return fmt.Sprint(d.Status, " ", signed, " ", d.Finished)
}

func leadOf(v visit) lead {
	d, s := v.document, v.signer
	switch {
	case finished(d):
		return lead{State: stateEnded, Class: "good", Text: "Everybody has signed."}
	case !s.DeclinedAt.IsZero():
		return lead{State: stateEnded, Text: "You declined to sign this document.", Ended: "declined"}
	case d.Status == refserver.StatusDeclined:
		return lead{State: stateEnded, Text: "A signer declined, so this document can no longer be signed.", Ended: "declined"}
	case d.Status != refserver.StatusPending:
		status := strings.ToLower(string(d.Status))
		return lead{State: stateEnded, Text: fmt.Sprintf("This document is %s, so it can no longer be signed.", status), Ended: status}
	case !s.SignedAt.IsZero():
		return lead{State: stateSigned, Class: "good", Text: "You have signed. It is still the turn of ", Names: turn(d), Rest: "."}
	case !s.InTurn:
		return lead{State: stateWaiting, Text: "It is not your turn yet: ", Names: turn(d), Rest: " signs first. You get a mail when it is your turn."}
	}
	return lead{State: stateReady, Text: "Read the document, fill in your fields and sign."}
}

// turn names the signers who may sign now.
func turn(d refserver.DocumentState) string {
	var names []string
	for _, s := range d.Signers {
		if s.InTurn {
			names = append(names, nameOf(s))
		}
	}
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:2], ", "), len(names)-2)
	}
	return strings.Join(names, ", ")
}

func nameOf(s refserver.SignerState) string {
	if s.Name == "" {
		return s.Email
	}
	return s.Name
}

func people(v visit) []person {
	var all []person
	for _, s := range v.document.Signers {
		one := person{Name: nameOf(s), Role: s.Role, You: s.ID == v.signer.ID, Status: "to sign"}
		switch {
		case !s.DeclinedAt.IsZero():
			one.Status, one.Class = "declined", "bad"
		case !s.SignedAt.IsZero():
			one.Status, one.Class = "signed", "good"
		case !s.ViewedAt.IsZero():
			one.Status = "viewed"
		}
		for _, value := range v.document.Values {
			if value.SignerID == s.ID {
				one.Values = append(one.Values, value.FieldValue)
			}
		}
		all = append(all, one)
	}
	return all
}

// fields returns the signer's own fields, in reading order, with the values in the request.
func fields(r *http.Request, v visit) []field {
	var own []field
	for i, f := range v.document.Fields {
		if f.Role != v.signer.Role && f.Role != v.signer.Email {
			continue
		}
		id := fmt.Sprintf("f%d", i)
		one := field{TemplateField: f, ID: id, Value: r.PostFormValue(id), Image: r.PostFormValue(id + ".image")}
		switch f.Kind {
		case refserver.SignatureField:
			one.Drawn, one.Placeholder = true, "Type your full name"
		case refserver.InitialsField:
			one.Drawn, one.Placeholder = true, "Type your initials"
		}
		own = append(own, one)
	}
	sortForReading(own)
	return own
}

// sortForReading sorts fields by page. On a page it sorts them by line, and in a line from left to
// right. A field belongs to a line if its middle is above the bottom of the line's highest field.
func sortForReading(fields []field) {
	middle := func(f field) float64 { return f.Y + f.Height/2 }
	slices.SortStableFunc(fields, func(a, b field) int { return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(middle(a), middle(b))) })
	for start := 0; start < len(fields); {
		first, end := fields[start], start+1
		for end < len(fields) && fields[end].Page == first.Page && middle(fields[end]) < first.Y+first.Height {
			end++
		}
		slices.SortStableFunc(fields[start:end], func(a, b field) int { return cmp.Compare(a.X, b.X) })
		start = end
	}
}

func (p *pages) showDocument(w http.ResponseWriter, r *http.Request, v visit) {
	data, err := p.options.Document(r.Context(), v.document)
	if err != nil {
		p.options.Logger.Error("a PDF cannot be shown", "document", v.document.ID, "err", err)
		p.message(w, http.StatusServiceUnavailable, v.document.Name, "The PDF cannot be shown. The sandbox's log says why.", "")
		return
	}
	look.SecureFile(w.Header())
	w.Header().Set("Content-Type", "application/pdf")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// viewed records that a person has seen the document. The page may report the view after the signer
// has signed or declined. In that case nothing is recorded, and there is no error.
func (p *pages) viewed(w http.ResponseWriter, r *http.Request, v visit) {
	err := p.server.Signer(v.document.ID, v.signer.ID).From(origin(r)).View()
	switch {
	case r.Header.Get("Accept") == "application/json" && err != nil && !errors.Is(err, refserver.ErrRefused):
		http.Error(w, sentence(err), http.StatusConflict)
	case r.Header.Get("Accept") == "application/json":
		w.WriteHeader(http.StatusNoContent)
	default: // the page is in its own tab
		http.Redirect(w, r, v.path+"/document.pdf", http.StatusSeeOther)
	}
}

func (p *pages) sign(w http.ResponseWriter, r *http.Request, v visit) {
	if v.signer.ViewedAt.IsZero() && v.signer.InTurn {
		p.again(w, r, v, errors.New("the document was not shown to you yet: open it as a PDF and look at it, then sign"))
		return
	}
	if r.PostFormValue("agree") != "true" {
		p.again(w, r, v, errors.New("tick that you want to sign this document"))
		return
	}
	values, err := entered(fields(r, v))
	if err == nil {
		err = p.signAsShown(r, v, values)
	}
	if now, ok := p.visit(r); err != nil && ok && !now.signer.SignedAt.IsZero() {
		if err = errOtherEntries; now.has(values) {
			err = nil // the first response was lost
		}
	}
	if err != nil {
		p.again(w, r, v, err)
		return
	}
	http.Redirect(w, r, v.path+"?did=signed", http.StatusSeeOther)
}

// signAsShown signs, unless another signer has signed since the page was made. So nobody signs a
// document that differs from the one on the page.
func (p *pages) signAsShown(r *http.Request, v visit, values []refserver.FieldValue) error {
	p.signing.Lock()
	defer p.signing.Unlock()
	if now, ok := p.visit(r); ok && now.signer.InTurn && r.PostFormValue("version") != version(now.document) {
		return errors.New("somebody has signed meanwhile: look at what the document says now, then sign")
	}
	return p.server.Signer(v.document.ID, v.signer.ID).From(origin(r)).Sign(values...)
}

var errOtherEntries = errors.New("you have already signed in another window, with other entries. Those of this page are not used")

// has reports whether these values are what the signer has signed.
func (v visit) has(values []refserver.FieldValue) bool {
	var signed []refserver.FieldValue
	for _, value := range v.document.Values {
		if value.SignerID == v.signer.ID {
			signed = append(signed, value.FieldValue)
		}
	}
	byName := func(a, b refserver.FieldValue) int { return strings.Compare(a.Name, b.Name) }
	same := func(a, b refserver.FieldValue) bool {
		return a.Name == b.Name && a.Value == b.Value && bytes.Equal(a.Image, b.Image)
	}
	return slices.EqualFunc(slices.SortedFunc(slices.Values(signed), byName), slices.SortedFunc(slices.Values(values), byName), same)
}

// again shows the current page with the entered values and the reason why they were refused.
func (p *pages) again(w http.ResponseWriter, r *http.Request, v visit, err error) {
	if now, ok := p.visit(r); ok {
		v = now
	}
	page := p.signPage(r, v)
	page.Problem = sentence(err)
	p.render(w, http.StatusUnprocessableEntity, "sign", page)
}

// entered returns the values of the fields. It leaves out empty fields.
func entered(fields []field) (values []refserver.FieldValue, err error) {
	for _, f := range fields {
		value := refserver.FieldValue{Name: f.Name, Value: strings.TrimSpace(f.Value)}
		if f.Image != "" {
			encoded, ok := strings.CutPrefix(f.Image, "data:image/png;base64,")
			if value.Image, err = base64.StdEncoding.DecodeString(encoded); !ok || err != nil {
				return nil, fmt.Errorf("the drawing of %q did not arrive as a picture: draw it again", f.Name)
			}
			value.Value = ""
		}
		if missing := pdf.Missing(value.Value); f.Drawn && len(missing) > 0 {
			return nil, fmt.Errorf("the signed PDF cannot show these characters of %q: %s. Use others, or draw it", f.Name, string(missing))
		}
		if value.Value != "" || value.Image != nil {
			values = append(values, value)
		}
	}
	return values, nil
}

func (p *pages) decline(w http.ResponseWriter, r *http.Request, v visit) {
	reason := strings.TrimSpace(r.PostFormValue("reason"))
	if err := p.server.Signer(v.document.ID, v.signer.ID).From(origin(r)).Decline(reason); err != nil {
		p.again(w, r, v, err)
		return
	}
	http.Redirect(w, r, v.path+"?did=declined", http.StatusSeeOther)
}
