package batch

import (
	"net"
	"net/mail"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

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

// address returns an address in one spelling, without a name: whatever its case, its way to write accents, and that of its domain.
func address(text string) string {
	if a, err := mail.ParseAddress(text); err == nil {
		text = a.Address
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return strings.ToLower(text)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(text[:at]))) + "@" + domain(text[at+1:])
}

// hostNames reads domains as look-ups do, and those that are against the rules of hosts too.
var hostNames = idna.New(idna.MapForLookup(), idna.StrictDomainName(false))

// domain returns a domain in one spelling, in Unicode.
func domain(text string) string {
	if name, err := hostNames.ToUnicode(text); err == nil {
		text = name
	}
	return strings.TrimSuffix(strings.ToLower(text), ".")
}

// Service returns one spelling for all base URLs that may be those of one service: without the scheme and its port, and with one name
// for this machine.
func Service(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil {
		return baseURL
	}
	host := domain(u.Hostname())
	if ip := net.ParseIP(host); ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) || strings.HasSuffix("."+host, ".localhost") {
		host = "localhost"
	}
	if port, _ := strconv.Atoi(u.Port()); port != 0 && port != 80 && port != 443 {
		host += ":" + strconv.Itoa(port)
	}
	return host + strings.TrimSuffix(path.Clean("/"+u.Path), "/")
}
