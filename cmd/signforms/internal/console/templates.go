package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

func (c *console) templates(*http.Request) (page, error) {
	return page{Title: "Templates", name: "templates", Live: "template,document", Data: c.server.Templates()}, nil
}

// templateView is one template with a curl command that sends it.
type templateView struct {
	Template signformstest.TemplateState
	Curl     string
}

func (c *console) template(r *http.Request) (page, error) {
	t, ok := c.server.FindTemplate(r.PathValue("id"))
	if !ok {
		return page{}, errNoSuchRecord
	}
	return page{Title: t.Name, name: "template", Data: templateView{Template: t, Curl: c.sendCurl(t)}}, nil
}

// sendCurl returns a curl command that sends the template, with an example address for each role.
func (c *console) sendCurl(t signformstest.TemplateState) string {
	type receiver struct {
		Name      string `json:"name"`
		Email     string `json:"email"`
		RoleTitle string `json:"roleTitle"`
	}
	in := struct {
		SigningType   string     `json:"signingType"`
		DocumentID    string     `json:"documentId"`
		ReceiversList []receiver `json:"receiversList"`
	}{SigningType: "PDF_TEMPLATE", DocumentID: t.ID}
	for i, role := range t.Roles {
		in.ReceiversList = append(in.ReceiversList, receiver{Name: fmt.Sprintf("Person %d", i+1), Email: fmt.Sprintf("person%d@example.com", i+1), RoleTitle: role.Title})
	}
	body, err := json.Marshal(in)
	if err != nil {
		return "" // cannot happen for strings
	}
	return curl("POST", c.options.PublicURL+"/pdf-template-lambda", http.Header{
		"Content-Type": {"application/json"}, "X-Api-Key": {""},
	}, body)
}

func (c *console) newTemplate(r *http.Request) (page, error) {
	return page{Title: "New template", name: "new-template", Data: r.PostForm}, nil
}

// placedField is a field as place.js writes it into the form.
type placedField struct {
	Name     string  `json:"name"`
	Role     string  `json:"role"`
	Kind     string  `json:"kind"`
	Required bool    `json:"required"`
	Page     int     `json:"page"`
	X        float64 `json:"x"`
	Y        float64 `json:"y"`
	Width    float64 `json:"width"`
	Height   float64 `json:"height"`
}

func (c *console) addTemplate(r *http.Request) (string, error) {
	if err := r.ParseMultipartForm(maxBody); err != nil {
		return "", errors.New("the form could not be read: it may be larger than 32 MB")
	}
	t := signformstest.Template{Name: strings.TrimSpace(r.PostFormValue("name")), SigningOrder: r.PostFormValue("order") == "true"}
	for line := range strings.Lines(r.PostFormValue("roles")) {
		if title := strings.TrimSpace(line); title != "" {
			t.Roles = append(t.Roles, signformstest.Role{Title: title})
		}
	}
	var placed []placedField
	if text := strings.TrimSpace(r.PostFormValue("fields")); text != "" {
		if err := json.Unmarshal([]byte(text), &placed); err != nil {
			return "", errors.New("the fields could not be read: place them again")
		}
	}
	for _, f := range placed {
		t.Fields = append(t.Fields, signformstest.TemplateField{
			Name: f.Name, Role: f.Role, Kind: signformstest.FieldKind(f.Kind), Required: f.Required,
			Page: f.Page, X: f.X, Y: f.Y, Width: f.Width, Height: f.Height,
		})
	}
	var err error
	if t.PDF, err = c.uploaded(r); err != nil {
		return "", err
	}
	id, err := c.server.TryAddTemplate(t)
	if err != nil {
		return "", err
	}
	return done("templates/"+id, "added"), nil
}

// sendTemplate calls the API as a client does.
func (c *console) sendTemplate(r *http.Request) (string, error) {
	t, ok := c.server.FindTemplate(r.PathValue("id"))
	if !ok {
		return "", errNoSuchRecord
	}
	p := signforms.TemplateSendParams{TemplateID: t.ID}
	for i, role := range t.Roles {
		email := strings.TrimSpace(r.PostFormValue(fmt.Sprintf("email%d", i)))
		if email == "" {
			continue
		}
		p.Receivers = append(p.Receivers, signforms.Receiver{
			Name: strings.TrimSpace(r.PostFormValue(fmt.Sprintf("name%d", i))), Email: email, RoleTitle: role.Title,
		})
	}
	sent, err := c.server.Client().Templates.Send(r.Context(), p)
	if err != nil {
		return "", err
	}
	return done("documents/"+sent.CreatedDocumentID, "sent"), nil
}
