package signforms_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

const own, other = "6afac610c07043658fde1996", "6afac610c07043658fde1997"

func sendTo(emails ...string) signforms.TemplateSendParams {
	p := signforms.TemplateSendParams{TemplateID: clienttest.TemplateID}
	for _, email := range emails {
		p.Receivers = append(p.Receivers, signforms.Receiver{Name: "Ann", Email: email, RoleTitle: "Client"})
	}
	return p
}

func TestRespondent_AddressesReadable(t *testing.T) {
	for name, c := range map[string]struct {
		emails []string
		want   bool
	}{
		"all in full":             {[]string{"ann@example.com", " Ben@Example.com"}, true},
		"no signers":              {nil, false},
		"one masked":              {[]string{"ann@example.com", "b**@example.com"}, false},
		"one missing":             {[]string{"ann@example.com", ""}, false},
		"a mask like an address":  {[]string{"axx@example.com"}, true},
		"a domain as in punycode": {[]string{"ann@xn--bcher-kva.example"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := signforms.Respondent{}
			for _, email := range c.emails {
				r.Signers = append(r.Signers, signforms.Signer{Email: email})
			}
			require.Equal(t, c.want, r.AddressesReadable())
		})
	}
}

// A document that is left out may be sent a second time: only one that certainly is another may be.
func TestFindSent_excludesOnlyOthers(t *testing.T) {
	const ann = `[{"email":"ann@example.com"}]`
	for name, c := range map[string]struct {
		signers string // of the record, as JSON
		fields  string // of the record, before signers
		to      []string
		another bool
	}{
		"the same address":                 {signers: ann},
		"in capitals and with blanks":      {signers: `[{"email":" ANN@Example.com "}]`},
		"somebody else":                    {signers: `[{"email":"ben@example.com"}]`, another: true},
		"one of two receivers":             {signers: ann, to: []string{"ann@example.com", "ben@example.com"}, another: true},
		"a further signer":                 {signers: `[{"email":"boss@example.com"},{"email":"ann@example.com"}]`},
		"another template":                 {signers: ann, fields: `"templateId":"11111111-5b1f-4c7e-9a55-2f6f1f0c9d11",`, another: true},
		"this template in capitals":        {signers: ann, fields: `"templateId":"` + strings.ToUpper(clienttest.TemplateID) + `",`},
		"a template that is not an id":     {signers: ann, fields: `"templateId":"offer",`},
		"made in 1999":                     {signers: ann, fields: `"createdAt":"1999-01-01T00:00:00Z",`},
		"made in 2099":                     {signers: ann, fields: `"createdAt":"2099-01-01T00:00:00Z",`},
		"signers null":                     {signers: `null`},
		"signers empty":                    {signers: `[]`},
		"signers as text":                  {signers: `"ann@example.com"`},
		"signers as texts":                 {signers: `["ann@example.com"]`},
		"a text beside a signer":           {signers: `["ann@example.com",{"email":"ben@example.com"}]`},
		"null beside a signer":             {signers: `[null,{"email":"ben@example.com"}]`},
		"signers in an object":             {signers: `{"items":[{"email":"ann@example.com"}]}`},
		"addresses as objects":             {signers: `[{"email":{"address":"ann@example.com"}}]`},
		"an address under another name":    {signers: `[{"mail":"ann@example.com"}]`},
		"an address beside one unread":     {signers: `[{"email":"ben@example.com"},{"email":null}]`},
		"an address with a name":           {signers: `[{"email":"Ann <ann@example.com>"}]`},
		"an address with a mask":           {signers: `[{"email":"a**@example.com"}]`},
		"an address with dots as a mask":   {signers: `[{"email":"a...@example.com"}]`},
		"a domain with dots as a mask":     {signers: `[{"email":"ann@e..com"}]`},
		"a domain without a dot":           {signers: `[{"email":"ann@example"}]`},
		"an address with an ellipsis":      {signers: `[{"email":"a…@example.com"}]`},
		"an address with escapes":          {signers: `[{"email":"ann%40example.com"}]`},
		"an address with a scheme":         {signers: `[{"email":"mailto:ann@example.com"}]`},
		"a domain in punycode":             {signers: `[{"email":"ann@xn--bcher-kva.example"}]`, to: []string{"ann@bücher.example"}},
		"a domain in letters":              {signers: `[{"email":"ann@bücher.example"}]`, to: []string{"ann@xn--bcher-kva.example"}},
		"a receiver with a blank":          {signers: ann, to: []string{" Ann@example.com"}},
		"a receiver who is not comparable": {signers: ann, to: []string{"Ann <ann@example.com>"}},
	} {
		t.Run(name, func(t *testing.T) {
			answer := fmt.Sprintf(`{"respondents":[{"respondentDocumentId":%q,%s"signers":%s}],
				"pagination":{"currentPage":1,"totalPages":1,"totalDocuments":1}}`, own, c.fields, c.signers)
			p := sendTo("ann@example.com")
			if c.to != nil {
				p = sendTo(c.to...)
			}
			found, err := clienttest.Scripted(t, clienttest.Answers(200, answer)).Respondents.FindSent(t.Context(), p, nil)
			require.NoError(t, err)
			if c.another {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, own, found[0].ID)
		})
	}
}

func TestFindSent_exclude(t *testing.T) {
	record := func(id string) string {
		return fmt.Sprintf(`{"respondentDocumentId":%q,"signers":[{"email":"ann@example.com"}]}`, id)
	}
	for name, c := range map[string]struct {
		records []string
		total   int
		known   string
		want    []string
		reason  error
	}{
		"none":                          {},
		"of another send":               {records: []string{record(other)}, known: other},
		"beside another":                {records: []string{record(own), record(other)}, known: other, want: []string{own}},
		"a duplicate by somebody else":  {records: []string{record(own), record(other)}, want: []string{own, other}},
		"a list with a hole":            {records: []string{record(own)}, total: 3, reason: signforms.ErrIncomplete},
		"a record without an id":        {records: []string{record("")}, known: own, want: []string{""}},
		"a list with a hole, and known": {records: []string{record(own)}, total: 3, known: own, reason: signforms.ErrIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			answer := fmt.Sprintf(`{"respondents":[%s],"pagination":{"currentPage":1,"totalPages":1,"totalDocuments":%d}}`,
				strings.Join(c.records, ","), max(c.total, len(c.records)))
			found, err := clienttest.Scripted(t, clienttest.Answers(200, answer)).Respondents.FindSent(t.Context(),
				sendTo("ann@example.com"), func(id string) bool { return id == c.known })
			require.ErrorIs(t, err, c.reason)
			var ids []string
			for _, r := range found {
				ids = append(ids, r.ID)
			}
			require.Equal(t, c.want, ids)
		})
	}
}

// A page that fails half way must not make its candidates look like all of them.
func TestFindSent_listFails(t *testing.T) {
	first := make([]string, 100)
	for i := range first {
		first[i] = fmt.Sprintf(`{"respondentDocumentId":"6afac610c07043658fde%04d","signers":[{"email":"ann@example.com"}]}`, i)
	}
	client := clienttest.Scripted(t, clienttest.Transport(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("page") != "1" {
			return nil, errors.New("the connection broke")
		}
		return clienttest.Answers(200, fmt.Sprintf(`{"respondents":[%s],
			"pagination":{"currentPage":1,"totalPages":2,"totalDocuments":150}}`, strings.Join(first, ",")))(r)
	}))
	found, err := client.Respondents.FindSent(t.Context(), sendTo("ann@example.com"), nil)
	require.ErrorIs(t, err, signforms.ErrUnavailable)
	require.Empty(t, found)
}
