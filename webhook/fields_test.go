package webhook_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
)

func parseFields(t *testing.T, members string) []webhook.Field {
	t.Helper()
	return parseOne(t, `{"webhookEvent":"new_template_response",`+members+`}`).(*webhook.TemplateResponse).Fields
}

func TestFields_keys(t *testing.T) {
	for _, row := range []struct {
		key  string
		want webhook.Field
	}{
		{key: "contact_field(page1)[Client]", want: webhook.Field{Kind: "contact_field", Page: 1, Label: "Client"}},
		{key: "text(page12)[a(page3)[b]]", want: webhook.Field{Kind: "text", Page: 12, Label: "a(page3)[b]"}},
		{key: "date(page1)[]", want: webhook.Field{Kind: "date", Page: 1}},
		{key: "x(page1)[]]", want: webhook.Field{Kind: "x", Page: 1, Label: "]"}},
		{key: "x(page1)[ )[ ]", want: webhook.Field{Kind: "x", Page: 1, Label: " )[" + " "}},
		{key: "any kind, é(page007)[é 😀]", want: webhook.Field{Kind: "any kind, é", Page: 7, Label: "é 😀"}},
		{key: "x(page2147483647)[y]", want: webhook.Field{Kind: "x", Page: 2147483647, Label: "y"}},
		{key: "initials(page0)[O'Neil & Co.]", want: webhook.Field{Kind: "initials", Label: "O'Neil & Co."}},
	} {
		t.Run(row.key, func(t *testing.T) {
			row.want.Key, row.want.Value = row.key, "v"
			require.Equal(t, []webhook.Field{row.want}, parseFields(t, `"`+row.key+`":"v"`))
		})
	}
	for _, key := range []string{
		"", "]", "(page1)[x]", "x(page)[y]", "x(page1)[y", "x(page1)y]", "x(page1) [y]", "x(pageA)[y]", "x(page-1)[y]", "x(page+1)[y]",
		"x(page1[y]", "x(page 1)[y]", "x(Page1)[y]", "x[y]", "x(page1)", "x(page1)[", "x(page2147483648)[y]", "x(page99999999999999999999)[y]", "x(page1.0)[y]", "x(page1_0)[y]",
	} {
		t.Run(key, func(t *testing.T) {
			require.Nil(t, parseFields(t, `"`+key+`":"v"`))
		})
	}
}

func TestFields_values(t *testing.T) {
	for _, row := range []struct{ value, want string }{
		{value: `"text"`, want: "text"}, {value: `""`, want: ""}, {value: `"a\nb"`, want: "a\nb"}, {value: `true`, want: "true"}, {value: `12.50`, want: "12.50"},
		{value: `[ "a", 1 ]`, want: `[ "a", 1 ]`}, {value: `{"a":{}}`, want: `{"a":{}}`},
	} {
		t.Run(row.value, func(t *testing.T) {
			require.Equal(t, row.want, parseFields(t, `"x(page1)[y]":`+row.value)[0].Value)
			form := parseOne(t, `{"webhookEvent":"new_form_response","response":[{"answer":`+row.value+`}]}`).(*webhook.FormResponse)
			require.Equal(t, row.want, form.Answers[0].Answer)
		})
	}
}

func TestFields_documentOrder(t *testing.T) {
	fields := parseFields(t, `"b(page2)[x]":"1","documentName":"n","a(page1)[x]":"2","signers":[{}],"c(page1)[\u0078]":"3","b(page2)[\u0078]":"4"`)
	require.Equal(t, []webhook.Field{
		{Kind: "b", Page: 2, Label: "x", Value: "4", Key: "b(page2)[x]"},
		{Kind: "a", Page: 1, Label: "x", Value: "2", Key: "a(page1)[x]"},
		{Kind: "c", Page: 1, Label: "x", Value: "3", Key: "c(page1)[x]"},
	}, fields, "the last value in the first place")
}

// A field that is null is missing, as any other key is.
func TestFields_null(t *testing.T) {
	a := webhook.Field{Kind: "x", Page: 1, Label: "a", Value: "1", Key: "x(page1)[a]"}
	b := webhook.Field{Kind: "x", Page: 1, Label: "b", Value: "2", Key: "x(page1)[b]"}
	for _, c := range []struct {
		name, members string
		want          []webhook.Field
	}{
		{name: "null", members: `"x(page1)[a]":null`},
		{name: "among others", members: `"x(page1)[a]":"1","x(page1)[c]":null,"x(page1)[b]":"2"`, want: []webhook.Field{a, b}},
		{name: "at last", members: `"x(page1)[a]":"1","x(page1)[b]":"2","x(page1)[a]":null`, want: []webhook.Field{b}},
		{name: "at first", members: `"x(page1)[a]":null,"x(page1)[b]":"2","x(page1)[a]":"1"`, want: []webhook.Field{b, a}},
		{name: "between", members: `"x(page1)[a]":"0","x(page1)[a]":null,"x(page1)[b]":"2","x(page1)[a]":"1"`, want: []webhook.Field{a, b}},
		{name: "all", members: `"x(page1)[a]":"1","x(page1)[a]":null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, parseFields(t, c.members))
		})
	}
	form := parseOne(t, `{"webhookEvent":"new_form_response","response":[{"answer":null}]}`).(*webhook.FormResponse)
	require.Empty(t, form.Answers[0].Answer)
}

// Many keys are searched for repetitions by a different algorithm.
func TestFields_many(t *testing.T) {
	for _, n := range []int{15, 16, 17, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var members strings.Builder
			for i := range n {
				fmt.Fprintf(&members, `"x(page1)[%d]":"first %d",`, i, i)
			}
			for i := range n {
				fmt.Fprintf(&members, `"x(page1)[%d]":"last %d",`, i, i)
			}
			fields := parseFields(t, members.String()+`"x(page2)[y]":"z"`)
			require.Len(t, fields, n+1)
			for i, f := range fields[:n] {
				require.Equal(t, fmt.Sprintf("last %d", i), f.Value)
				require.Equal(t, fmt.Sprint(i), f.Label)
			}
			require.Equal(t, "z", fields[n].Value)
		})
	}
}
