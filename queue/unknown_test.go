package queue_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// Events of a type that is not known run in the order of receipt with the known ones about the same thing.
func TestRun_unknownTypesKeepTheOrder(t *testing.T) {
	template := func(n int) string {
		return string(webhooktest.Payload(&webhook.TemplateViewed{Document: webhook.Document{DocumentID: "t", DocumentName: fmt.Sprint(n)}, Signers: []webhook.Signer{{ID: "s1"}, {ID: "s2"}}}))
	}
	for _, c := range []struct {
		name           string
		known, unknown string
	}{
		{name: "document", known: `{"webhookEvent":"new_signature_pdf_completed","documentId":"a","documentName":"%d"}`, unknown: `{"webhookEvent":"declined","documentId":"a","n":%d}`},
		{name: "undecodable", known: `{"webhookEvent":"new_signature_pdf_completed","documentId":"a","documentName":"%d"}`, unknown: `{"webhookEvent":%d,"documentId":"a"}`},
		{name: "response", known: `{"webhookEvent":"new_form_response","formResponseId":"r","formTitle":"%d"}`, unknown: `{"webhookEvent":"amended","formResponseId":"r","documentId":"x","n":%d}`},
		{name: "template", known: "", unknown: `{"webhookEvent":"declined","documentId":"t","formResponseId":"r","n":%d,"signers":[{"signerId":"s2","x":1},{"signerId":"s1"},7]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachStore(t, func(s stage) {
				q := s.queue(nil)
				for n := range 3 {
					known := template(n)
					if c.known != "" {
						known = fmt.Sprintf(c.known, n)
					}
					require.Equal(s, http.StatusOK, s.deliver(q, []byte(known)).Code)
					require.Equal(s, http.StatusOK, s.deliver(q, fmt.Appendf(nil, c.unknown, n)).Code)
				}
				var j journal
				began, goOn := make(chan struct{}, 1), make(chan struct{})
				first := true
				note := func(ctx context.Context, kind string) error {
					entry, _ := queue.EntryFromContext(ctx)
					if first {
						first = false
						began <- struct{}{}
						<-goOn // others would run meanwhile if they were of another ordering key
					}
					j.note(fmt.Sprint(entry.ID, kind))
					return nil
				}
				s.run(q, webhook.Funcs{
					Default: func(ctx context.Context, _ webhook.Event) error { return note(ctx, " known") },
					Unknown: func(ctx context.Context, _ *webhook.UnknownEvent) error { return note(ctx, " unknown") },
				})
				<-began
				st := s.until(q, func(st queue.Stats) bool { return st.Running > 0 })
				require.Equal(s, 1, st.OrderingKeys)
				close(goOn)
				s.settled(q)
				all := s.list(q, queue.Filter{})
				var want []string
				for i, e := range all {
					want = append(want, fmt.Sprint(e.ID, []string{" known", " unknown"}[i%2]))
				}
				require.Equal(s, want, j.all())
			})
		})
	}
}
