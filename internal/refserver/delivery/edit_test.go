package delivery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// TestEditIsAsIfMadeSo compares an edited body with one that was made in that form.
func TestEditIsAsIfMadeSo(t *testing.T) {
	form := &signing.Form{ID: "f", Title: `Intake "1"`}
	e := signing.Event{Type: signing.EventFormResponse, Form: form, Response: &signing.FormResponse{ID: "r"}}
	events := []signing.Event{e, e}
	for _, object := range []bool{false, true} {
		plain := delivery.Bodies(events, links, delivery.Form{Object: object})
		for _, form := range []delivery.Form{{}, {OmitType: true}, {Type: `a "type"`}, {Pad: 3}, {OmitType: true, Pad: 2}, {Type: "x", Pad: 1}} {
			form.Object = object
			require.Equal(t, string(delivery.Bodies(events, links, form)), string(delivery.Edit(plain, form)), "%+v", form)
		}
		untyped := delivery.Bodies(events, links, delivery.Form{Object: object, OmitType: true})
		require.Equal(t, string(delivery.Bodies(events, links, delivery.Form{Object: object, Type: "x"})), string(delivery.Edit(untyped, delivery.Form{Type: "x"})))
	}
}
