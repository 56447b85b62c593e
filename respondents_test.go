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
	for _, c := range []struct {
		name   string
		emails []string
		want   bool
	}{
		{name: "all in full", emails: []string{"ann@example.com", " Ben@Example.com"}, want: true},
		{name: "no signers", emails: nil, want: false},
		{name: "one masked", emails: []string{"ann@example.com", "b**@example.com"}, want: false},
		{name: "one missing", emails: []string{"ann@example.com", ""}, want: false},
		{name: "a mask like an address", emails: []string{"axx@example.com"}, want: true},
		{name: "a domain as in punycode", emails: []string{"ann@xn--bcher-kva.example"}, want: false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := signforms.Respondent{}
			for _, email := range c.emails {
				r.Signers = append(r.Signers, signforms.Signer{Email: email})
			}
			require.Equal(t, c.want, r.AddressesReadable())
		})
	}
}

// The document of an excluded record may be sent again, so only records of certainly different documents are excluded.
func TestFindSent_excludesOnlyOthers(t *testing.T) {
	const ann = `[{"email":"ann@example.com"}]`
	for _, c := range []struct {
		name    string
		signers string // of the record, as JSON
		fields  string // of the record, before signers
		to      []string
		another bool
	}{
		{name: "the same address", signers: ann},
		{name: "in capitals and with blanks", signers: `[{"email":" ANN@Example.com "}]`},
		{name: "somebody else", signers: `[{"email":"ben@example.com"}]`, another: true},
		{name: "one of two receivers", signers: ann, to: []string{"ann@example.com", "ben@example.com"}, another: true},
		{name: "a further signer", signers: `[{"email":"boss@example.com"},{"email":"ann@example.com"}]`},
		{name: "another template", signers: ann, fields: `"templateId":"11111111-5b1f-4c7e-9a55-2f6f1f0c9d11",`, another: true},
		{name: "this template in capitals", signers: ann, fields: `"templateId":"` + strings.ToUpper(clienttest.TemplateID) + `",`},
		{name: "a template that is not an id", signers: ann, fields: `"templateId":"offer",`},
		{name: "made in 1999", signers: ann, fields: `"createdAt":"1999-01-01T00:00:00Z",`},
		{name: "made in 2099", signers: ann, fields: `"createdAt":"2099-01-01T00:00:00Z",`},
		{name: "signers null", signers: `null`},
		{name: "signers empty", signers: `[]`},
		{name: "signers as text", signers: `"ann@example.com"`},
		{name: "signers as texts", signers: `["ann@example.com"]`},
		{name: "a text beside a signer", signers: `["ann@example.com",{"email":"ben@example.com"}]`},
		{name: "null beside a signer", signers: `[null,{"email":"ben@example.com"}]`},
		{name: "signers in an object", signers: `{"items":[{"email":"ann@example.com"}]}`},
		{name: "addresses as objects", signers: `[{"email":{"address":"ann@example.com"}}]`},
		{name: "an address under another name", signers: `[{"mail":"ann@example.com"}]`},
		{name: "an address beside one unread", signers: `[{"email":"ben@example.com"},{"email":null}]`},
		{name: "an address with a name", signers: `[{"email":"Ann <ann@example.com>"}]`},
		{name: "an address with a mask", signers: `[{"email":"a**@example.com"}]`},
		{name: "an address with dots as a mask", signers: `[{"email":"a...@example.com"}]`},
		{name: "a domain with dots as a mask", signers: `[{"email":"ann@e..com"}]`},
		{name: "a domain without a dot", signers: `[{"email":"ann@example"}]`},
		{name: "an address with an ellipsis", signers: `[{"email":"a…@example.com"}]`},
		{name: "an address with escapes", signers: `[{"email":"ann%40example.com"}]`},
		{name: "an address with a scheme", signers: `[{"email":"mailto:ann@example.com"}]`},
		{name: "a domain in punycode", signers: `[{"email":"ann@xn--bcher-kva.example"}]`, to: []string{"ann@bücher.example"}},
		{name: "a domain in letters", signers: `[{"email":"ann@bücher.example"}]`, to: []string{"ann@xn--bcher-kva.example"}},
		{name: "a receiver with a blank", signers: ann, to: []string{" Ann@example.com"}},
		{name: "a receiver who is not comparable", signers: ann, to: []string{"Ann <ann@example.com>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
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
	for _, c := range []struct {
		name    string
		records []string
		total   int
		known   string
		want    []string
		reason  error
	}{
		{name: "none"},
		{name: "of another send", records: []string{record(other)}, known: other},
		{name: "beside another", records: []string{record(own), record(other)}, known: other, want: []string{own}},
		{name: "a duplicate by somebody else", records: []string{record(own), record(other)}, want: []string{own, other}},
		{name: "a list with a hole", records: []string{record(own)}, total: 3, reason: signforms.ErrIncomplete},
		{name: "a record without an id", records: []string{record("")}, known: own, want: []string{""}},
		{name: "a list with a hole, and known", records: []string{record(own)}, total: 3, known: own, reason: signforms.ErrIncomplete},
	} {
		t.Run(c.name, func(t *testing.T) {
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
