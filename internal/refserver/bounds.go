package refserver

import "github.com/signforms/signforms-go/internal/refserver/signing"

// The maximum lengths of texts that a server stores, in characters. The API responds to a longer
// text with 400, and methods return an error that matches [ErrInvalid]. The service documents no
// lengths; these are far above the lengths that people write. A few long texts are cut off instead:
// user agents, paths of requests, and responses to deliveries.
const (
	MaxName   = signing.MaxName   // names and titles of all kinds, questions and choices, addresses of e-mail and IP, subjects, keys and secrets, ids of relays
	MaxReason = signing.MaxReason // the reason of a signer who declines
	MaxText   = signing.MaxText   // values and answers that people enter, values of variables, messages of mails
	MaxURL    = signing.MaxURL    // URLs
)

func checkName(field, value string) error { return signing.CheckLength(field, value, MaxName) }

func notNegative[N ~int | ~int64](field string, n N) error {
	if n < 0 {
		return invalid(field, "must not be negative")
	}
	return nil
}
