package batch

import (
	"net"
	"net/mail"
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// CheckAddress refuses a cell that is not one mail address and nothing else. One without an @ is for the service to judge.
func CheckAddress(text string) error {
	switch {
	case severalAddresses(text):
		return cli.UsageError("%q is more than one address: each receiver has one", text)
	case strings.Contains(text, "@") && !bareAddress(text):
		return cli.UsageError("%q is not a mail address alone, such as ann@example.com", text)
	}
	return nil
}

// severalAddresses reports whether a text has more than one mail address.
func severalAddresses(text string) bool {
	if strings.Count(text, "@") < 2 {
		return false
	}
	_, err := mail.ParseAddress(text) // one may have a further @ in quotes
	return err != nil
}

// bareAddress reports whether a text is a mail address and nothing else: no name, no bracket, no character that cannot be seen, and
// no apostrophe before it, by which spreadsheets mark text. Some providers have dots anywhere before the @, which is against RFC 5322.
func bareAddress(text string) bool {
	at := max(0, strings.LastIndexByte(text, '@'))
	a, err := mail.ParseAddress(strings.ReplaceAll(text[:at], ".", "_") + text[at:])
	hidden := func(c rune) bool { return !unicode.IsGraphic(c) || unicode.IsSpace(c) }
	return err == nil && a.Name == "" && !strings.HasPrefix(text, "'") && !strings.HasSuffix(text, ">") && !strings.ContainsFunc(text, hidden)
}

// address returns an address in one spelling, without a name.
func address(text string) string {
	if a, err := mail.ParseAddress(text); err == nil {
		text = a.Address
	}
	return strings.ToLower(text)
}

// Service returns one spelling for all base URLs that may be those of one service: without the scheme and its port, and with one name
// for this machine.
func Service(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil {
		return baseURL
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip := net.ParseIP(host); ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) || strings.HasSuffix("."+host, ".localhost") {
		host = "localhost"
	}
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	return host + strings.TrimSuffix(path.Clean("/"+u.EscapedPath()), "/")
}
