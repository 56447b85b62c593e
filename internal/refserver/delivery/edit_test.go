package delivery_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
)

func TestEdit(t *testing.T) {
	form := &signing.Form{ID: "f", Title: `Intake "1"`}
	e := signing.Event{Type: signing.EventFormResponse, Form: form, Response: &signing.FormResponse{ID: "r"}}
	one := string(delivery.Body(e, links, true))
	const typed = `"webhookEvent":"new_form_response",`
	require.True(t, strings.HasPrefix(one, "{"+typed))
	rest := strings.TrimSuffix(strings.TrimPrefix(one, "{"+typed), "}")
	for _, c := range []struct {
		changes delivery.Changes
		want    string
	}{
		{changes: delivery.Changes{}, want: `{` + typed + rest + `}`},
		{changes: delivery.Changes{OmitType: true}, want: `{` + rest + `}`},
		{changes: delivery.Changes{Type: `a "type"`}, want: `{"webhookEvent":"a \"type\"",` + rest + `}`},
	} {
		t.Run(c.want, func(t *testing.T) {
			require.Equal(t, c.want, string(delivery.Edit([]byte(one), c.changes)), "%+v", c.changes)
			several := delivery.Bodies([]signing.Event{e, e}, links)
			require.Equal(t, "["+c.want+","+c.want+"]", string(delivery.Edit(several, c.changes)), "%+v", c.changes)
		})
	}
	untyped := delivery.Edit([]byte(one), delivery.Changes{OmitType: true})
	require.Equal(t, `{"webhookEvent":"x",`+rest+`}`, string(delivery.Edit(untyped, delivery.Changes{Type: "x"})))
}
