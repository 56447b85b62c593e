package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

func (c *console) templates(*http.Request) (page, error) {
	return page{Title: "Templates", New: "New template", name: "templates", Live: "template,document", Data: c.server.Templates()}, nil
}

// templateView is one template with a curl command that sends it.
type templateView struct {
	Template refserver.TemplateState
	Curl     string
}

func (c *console) template(r *http.Request) (page, error) {
	t, ok := c.server.FindTemplate(r.PathValue("id"))
	if !ok {
		return page{}, errNoSuchRecord
	}
	return page{Title: t.Name, name: "template", Data: templateView{t, c.sendCurl(t)}}, nil
}

// sendCurl returns a curl command that sends the template, with an example address for each role and each variable.
func (c *console) sendCurl(t refserver.TemplateState) string {
	type receiver struct {
		Name      string `json:"name"`
		Email     string `json:"email"`
		RoleTitle string `json:"roleTitle"`
	}
	type variable struct {
		Name  string `json:"varName"`
		Value string `json:"varValue"`
	}
	in := struct {
		SigningType   string     `json:"signingType"`
		DocumentID    string     `json:"documentId"`
		ReceiversList []receiver `json:"receiversList"`
		Variables     []variable `json:"customVariables,omitempty"`
	}{SigningType: "PDF_TEMPLATE", DocumentID: t.ID}
	for i, role := range t.Roles {
		in.ReceiversList = append(in.ReceiversList, receiver{Name: fmt.Sprintf("Person %d", i+1), Email: fmt.Sprintf("person%d@example.com", i+1), RoleTitle: role.Title})
	}
	for _, v := range t.Variables {
		in.Variables = append(in.Variables, variable{v, "value"})
	}
	body, err := json.Marshal(in)
	if err != nil {
		return "" // cannot happen: in has only strings
	}
	return curl("POST", c.options.PublicURL+"/pdf-template-lambda", http.Header{
		"Content-Type": {"application/json"}, "X-Api-Key": {""},
	}, body)
}

// editView is the data that the editor of templates shows.
type editView struct {
	Name, Fields, Seen string // the fields are a list of [refserver.TemplateField] in JSON; Seen is [refserver.TemplateState].UpdatedAt
	Order              bool
	Roles              []refserver.Role
	PDF                string // URL of the template's PDF, or of an empty page
	HasPDF             bool
}

func (c *console) newTemplate(r *http.Request) (page, error) {
	view := entered(r)
	for len(view.Roles) < 2 { // without JavaScript, the user cannot add more
		view.Roles = append(view.Roles, refserver.Role{})
	}
	view.PDF = c.options.Base + "templates/new/document.pdf"
	return page{Title: "New template", name: "edit-template", Data: view}, nil
}

func (c *console) editTemplate(r *http.Request) (page, error) {
	t, ok := c.server.FindTemplate(r.PathValue("id"))
	if !ok {
		return page{}, errNoSuchRecord
	}
	view := entered(r)
	if r.Method == http.MethodGet {
		fields, err := json.Marshal(t.Fields)
		if err != nil {
			return page{}, err
		}
		view = editView{Name: t.Name, Fields: string(fields), Seen: t.UpdatedAt.Format(time.RFC3339Nano), Order: t.SigningOrder, Roles: t.Roles}
	}
	view.PDF, view.HasPDF = c.options.Base+"templates/"+t.ID+"/document.pdf", t.HasPDF
	return page{Title: "Edit " + t.Name, name: "edit-template", Data: view}, nil
}

// entered returns the user's input.
func entered(r *http.Request) editView {
	return editView{
		Name: r.PostForm.Get("name"), Fields: r.PostForm.Get("fields"), Seen: r.PostForm.Get("seen"), Order: r.PostForm.Get("order") == "true", Roles: enteredRoles(r),
	}
}

func enteredRoles(r *http.Request) (roles []refserver.Role) {
	for i, title := range r.PostForm["roles"] {
		role := refserver.Role{Title: strings.TrimSpace(title)}
		if colours := r.PostForm["colours"]; i < len(colours) {
			role.Colour = colours[i]
		}
		roles = append(roles, role)
	}
	return roles
}

// enteredTemplate reads the form of the editor. kept is the current PDF of the template, which is
// used if the user chose no other PDF; nil means an empty page.
func (c *console) enteredTemplate(r *http.Request, kept []byte) (t refserver.Template, content pdf.Content, err error) {
	if err := r.ParseMultipartForm(maxBody); err != nil {
		return t, content, errIncomplete(err)
	}
	view := entered(r)
	t.Name, t.SigningOrder = strings.TrimSpace(view.Name), view.Order
	for _, role := range view.Roles {
		if role.Title != "" {
			t.Roles = append(t.Roles, role)
		}
	}
	if err := json.Unmarshal([]byte(cmp.Or(view.Fields, "[]")), &t.Fields); err != nil {
		return t, content, errors.New("the fields could not be read: place them again")
	}
	if t.PDF, content, err = c.uploaded(r); err != nil {
		return t, content, err
	}
	if t.PDF == nil && slices.ContainsFunc(t.Fields, func(f refserver.TemplateField) bool { return f.Page > 1 }) {
		if content, err = c.contentOf(r.Context(), kept); err != nil {
			return t, content, err
		}
	}
	for _, f := range t.Fields {
		if pages := len(content.Pages); f.Page > pages {
			return t, content, fmt.Errorf("the field %q is on page %d, and the last page is %d: choose another page for it", f.Name, f.Page, pages)
		}
	}
	return t, content, nil
}

func (c *console) addTemplate(r *http.Request) (string, error) {
	t, content, err := c.enteredTemplate(r, nil)
	if err != nil {
		return "", err
	}
	id, err := c.server.AddTemplate(t)
	if err != nil {
		return "", err
	}
	return doneWith("templates/"+id, "added", content), nil
}

func (c *console) changeTemplate(r *http.Request) (string, error) {
	old, ok := c.server.FindTemplate(r.PathValue("id"))
	if !ok {
		return "", errNoSuchRecord
	}
	kept, err := c.server.TemplatePDF(r.Context(), old.ID)
	if err != nil {
		return "", err
	}
	t, content, err := c.enteredTemplate(r, kept)
	if err != nil {
		return "", err
	}
	t.Variables, t.AuthorEmail, t.ExpiresFor = old.Variables, old.AuthorEmail, old.ExpiresFor
	seen, err := time.Parse(time.RFC3339Nano, r.PostForm.Get("seen"))
	if err != nil {
		return "", errors.New("the page is not whole: open the template again")
	}
	err = c.server.ChangeTemplate(old.ID, seen, t)
	if errors.Is(err, refserver.ErrRefused) {
		r.PostForm.Set("seen", old.UpdatedAt.Format(time.RFC3339Nano))
		return "", errors.New("the template was changed after you had opened it: look at it in another tab, or save again to replace it")
	}
	if err != nil {
		return "", err
	}
	return doneWith("templates/"+old.ID, "changed", content), nil
}

// sendTemplate sends the template through the API, as a client does.
func (c *console) sendTemplate(r *http.Request) (string, error) {
	t, ok := c.server.FindTemplate(r.PathValue("id"))
	if !ok {
		return "", errNoSuchRecord
	}
	p := signforms.TemplateSendParams{TemplateID: t.ID}
	for i, role := range t.Roles {
		name, email := strings.TrimSpace(r.PostFormValue(fmt.Sprintf("name%d", i))), strings.TrimSpace(r.PostFormValue(fmt.Sprintf("email%d", i)))
		if name != "" || email != "" {
			p.Receivers = append(p.Receivers, signforms.Receiver{Name: name, Email: email, RoleTitle: role.Title})
		}
	}
	for i, name := range t.Variables {
		if value := r.PostFormValue(fmt.Sprintf("variable%d", i)); value != "" {
			p.Variables = append(p.Variables, signforms.Variable{Name: name, Value: value})
		}
	}
	client, err := c.client()
	if err != nil {
		return "", err
	}
	sent, err := client.Templates.Send(r.Context(), p)
	if err != nil {
		return "", err
	}
	return done("documents/"+sent.DocumentID, "sent"), nil
}
