package console

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

func (c *console) forms(*http.Request) (page, error) {
	return page{Title: "Forms", New: "New form", name: "forms", Live: "form,response", Data: c.server.Forms()}, nil
}

type formView struct {
	Form      refserver.FormState
	Responses []refserver.ResponseState
}

func (c *console) form(r *http.Request) (page, error) {
	f, ok := c.server.FindForm(r.PathValue("id"))
	if !ok {
		return page{}, errNoSuchRecord
	}
	return page{Title: f.Title, name: "form", Data: formView{f, c.server.Responses(f.ID)}}, nil
}

func (c *console) newForm(*http.Request) (page, error) {
	return page{Title: "New form", name: "new-form"}, nil
}

// addForm reads one question per line. "Colour? * = red, green" is a required question with two choices.
func (c *console) addForm(r *http.Request) (string, error) {
	f := refserver.Form{Title: strings.TrimSpace(r.PostFormValue("title"))}
	for line := range strings.Lines(r.PostFormValue("questions")) {
		if line = strings.TrimSpace(line); line != "" {
			f.Fields = append(f.Fields, questionOf(line))
		}
	}
	id, err := c.server.AddForm(f)
	if err != nil {
		return "", err
	}
	return done("forms/"+id, "added"), nil
}

// kinds has the marks that may follow a question, and the kind that each mark means.
var kinds = map[string]refserver.QuestionKind{
	"[long]": refserver.LongTextQuestion, "[date]": refserver.DateQuestion, "[checkbox]": refserver.CheckboxQuestion,
}

func questionOf(line string) refserver.Field {
	var f refserver.Field
	question, choices, isChoice := strings.Cut(line, " = ")
	if isChoice {
		f.Kind = refserver.ChoiceQuestion
		for choice := range strings.SplitSeq(choices, ",") {
			f.Choices = append(f.Choices, strings.TrimSpace(choice))
		}
	}
	for mark, kind := range kinds {
		if rest, ok := strings.CutSuffix(question, " "+mark); ok {
			question, f.Kind = rest, kind
		}
	}
	question, f.Required = strings.CutSuffix(strings.TrimSpace(question), " *")
	f.Question = strings.TrimSpace(question)
	return f
}

func (c *console) submitForm(r *http.Request) (string, error) {
	f, ok := c.server.FindForm(r.PathValue("id"))
	if !ok {
		return "", errNoSuchRecord
	}
	s := refserver.Submission{RespondentEmail: strings.TrimSpace(r.PostFormValue("email")), Answers: map[string]string{}}
	for i, q := range f.Fields {
		if answer := r.PostFormValue(fmt.Sprintf("q%d", i)); answer != "" {
			s.Answers[q.Question] = answer
		}
	}
	if _, err := c.server.SubmitForm(f.ID, s); err != nil {
		return "", err
	}
	return done("forms/"+f.ID, "submitted"), nil
}

// sendForm sends the form through the API, as a client does.
func (c *console) sendForm(r *http.Request) (string, error) {
	p := signforms.FormSendParams{FormID: r.PathValue("id")}
	receivers, err := people(r.PostFormValue("receivers"), "receiver")
	if err != nil {
		return "", err
	}
	for _, person := range receivers {
		p.Receivers = append(p.Receivers, signforms.Receiver{Name: person.Name, Email: person.Email})
	}
	client, err := c.client()
	if err != nil {
		return "", err
	}
	_, err = client.Forms.Send(r.Context(), p)
	return done("forms/"+p.FormID, "sent"), err
}
