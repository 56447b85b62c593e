package signing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// QuestionKind is the kind of answer that a question requires.
type QuestionKind string

// The kinds of questions. The service does not document which of them it has.
const (
	QuestionText     QuestionKind = "text"      // one line; the default
	QuestionLongText QuestionKind = "long_text" // any number of lines
	QuestionChoice   QuestionKind = "choice"    // one of Choices
	QuestionDate     QuestionKind = "date"      // a date such as 2006-01-02
	QuestionCheckbox QuestionKind = "checkbox"  // "true" or "false"
)

// QuestionKinds lists them.
var QuestionKinds = [...]QuestionKind{QuestionText, QuestionLongText, QuestionChoice, QuestionDate, QuestionCheckbox}

// Check returns an [*Invalid] unless the form's names are valid and every question can be answered.
func (f Form) Check() error {
	if err := cmp.Or(CheckCount("Fields", len(f.Fields), MaxPeople), checkName("Title", f.Title)); err != nil {
		return err
	}
	for i, q := range f.Fields {
		at := fmt.Sprintf("Fields[%d].", i)
		names := []named{{at + "Question", q.Question}}
		for j, choice := range q.Choices {
			names = append(names, named{fmt.Sprintf("%sChoices[%d]", at, j), choice})
		}
		if err := cmp.Or(CheckCount(at+"Choices", len(q.Choices), MaxList), checkNames(names...)); err != nil {
			return err
		}
		sameQuestion := func(other FormField) bool { return other.Question == q.Question }
		wrong := func(name, format string, args ...any) error {
			return &Invalid{Field: at + name, Problem: fmt.Sprintf(format, args...)}
		}
		switch {
		case q.Question == "":
			return wrong("Question", "is empty")
		case slices.ContainsFunc(f.Fields[:i], sameQuestion):
			return wrong("Question", "is %q like that of another field: each needs its own", q.Question)
		case q.Kind != "" && !slices.Contains(QuestionKinds[:], q.Kind):
			return wrong("Kind", "is %.64q, which is not one of %s", q.Kind, Quoted(QuestionKinds[:]))
		case (q.Kind == QuestionChoice) != (len(q.Choices) > 0):
			return wrong("Choices", "must be there for a choice, and for nothing else")
		}
	}
	return nil
}

// check checks an answer against the question. A missing answer is an empty one.
func (q FormField) check(answer string) error {
	wrong := func(format string, args ...any) error {
		return &Invalid{Field: "answers", Problem: fmt.Sprintf("the question %q (field %s) ", q.Question, q.ID) + fmt.Sprintf(format, args...)}
	}
	_, noDate := time.Parse(time.DateOnly, answer)
	long := tooLong(answer, MaxText)
	switch {
	case q.Required && (strings.TrimSpace(answer) == "" || q.Kind == QuestionCheckbox && answer == "false"):
		return wrong("needs an answer")
	case long != "":
		return wrong("is answered by a text that %s", long)
	case !utf8.ValidString(answer):
		return wrong("takes UTF-8 text")
	case answer == "":
		return nil
	case q.Kind == QuestionChoice && !slices.Contains(q.Choices, answer):
		return wrong("is answered by one of %s", Quoted(q.Choices))
	case q.Kind == QuestionDate && noDate != nil:
		return wrong("is answered by a date as in 2006-01-02")
	case q.Kind == QuestionCheckbox && answer != "true" && answer != "false":
		return wrong(`is answered by "true" or "false"`)
	}
	return nil
}
