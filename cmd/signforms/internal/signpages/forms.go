package signpages

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/signforms/signforms-go/internal/refserver"
)

// formPage is the data for the template of the form page.
type formPage struct {
	Title, Assets  string
	Form           refserver.FormState
	Email, Problem string
	State          string // "" or "done"
	Questions      []question
}

type question struct {
	refserver.Field
	ID, Value string
}

// questions returns the form's questions with the answers in the request.
func questions(r *http.Request, f refserver.FormState) []question {
	var all []question
	for i, q := range f.Fields {
		id := fmt.Sprintf("q%d", i)
		all = append(all, question{Field: q, ID: id, Value: r.PostFormValue(id)})
	}
	return all
}

func (p *pages) showForm(w http.ResponseWriter, r *http.Request) {
	f, email, ok := p.server.FormLink(r.PathValue("token"))
	if !ok {
		p.noSuchPage(w, r)
		return
	}
	page := formPage{Title: f.Title, Assets: prefix, Form: f, Email: email, Questions: questions(r, f)}
	if r.URL.Query().Has("sent") {
		page.State = "done"
	}
	p.render(w, http.StatusOK, "form", page)
}

func (p *pages) submitForm(w http.ResponseWriter, r *http.Request) {
	f, _, ok := p.server.FormLink(r.PathValue("token"))
	if !ok {
		p.noSuchPage(w, r)
		return
	}
	if r.ContentLength > maxBody {
		p.tooLarge(w, f.Title)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	page := formPage{Title: f.Title, Assets: prefix, Form: f, Email: r.PostFormValue("email"), Questions: questions(r, f)}
	submission := refserver.Submission{
		RespondentEmail: strings.TrimSpace(page.Email), Answers: map[string]string{}, From: origin(r),
	}
	for _, q := range page.Questions {
		if q.Value != "" {
			submission.Answers[q.Question] = q.Value
		}
	}
	if _, err := p.server.SubmitForm(f.ID, submission); err != nil {
		page.Problem = sentence(err)
		p.render(w, http.StatusUnprocessableEntity, "form", page)
		return
	}
	http.Redirect(w, r, "/form/"+r.PathValue("token")+"?sent", http.StatusSeeOther)
}
