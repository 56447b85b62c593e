package refserver

import (
	"strings"
	"unicode"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// The maximum lengths of texts that a server stores, in characters. The API answers a longer text with 400, and methods return an
// error that matches [ErrInvalid]. The service documents no lengths; these are far above what people write. Other long texts are
// cut: user agents, paths of requests, answers to deliveries.
const (
	MaxName   = signing.MaxName   // names and titles of all kinds, questions and choices, addresses of e-mail and IP, subjects, keys and secrets, ids of relays
	MaxReason = signing.MaxReason // the reason of a signer who declines
	MaxText   = signing.MaxText   // values and answers that people enter, values of variables, messages of mails
	MaxURL    = signing.MaxURL    // URLs
)

// maxFaultBody is the maximum length of Fault.Body, in characters. It is twice what the client of this module reads of an answer.
const maxFaultBody = 64 << 20

// text is a text and the name of its field.
type text struct{ field, value string }

// checkNames returns an error if a text is longer than MaxName.
func checkNames(texts ...text) error {
	for _, t := range texts {
		if err := signing.CheckLength(t.field, t.value, MaxName); err != nil {
			return err
		}
	}
	return nil
}

// number is a number and the name of its field.
type number struct {
	field string
	value int64
}

// notNegative returns an error if a number is negative.
func notNegative(numbers ...number) error {
	for _, n := range numbers {
		if n.value < 0 {
			return invalid(n.field, "must not be negative")
		}
	}
	return nil
}

// checkTexts returns an error if a text is too long, or one of a header is not possible there.
func (f Fault) checkTexts() error {
	if err := checkNames(text{"DocumentID", f.DocumentID}, text{"RetryAfter", f.RetryAfter}); err != nil {
		return err
	}
	if strings.ContainsFunc(f.RetryAfter, unicode.IsControl) {
		return invalid("RetryAfter", "has a control character, which no header can have")
	}
	if f.RetryAfter != "" && strings.TrimSpace(f.RetryAfter) == "" {
		return invalid("RetryAfter", "has only spaces, which no header keeps")
	}
	return signing.CheckLength("Body", f.Body, maxFaultBody)
}

func (f WebhookFault) checkTexts() error {
	return checkNames(text{"Secret", f.Secret}, text{"Type", f.Type})
}
