package signing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

var noon = time.Date(2026, 11, 18, 12, 0, 0, 987_654_321, time.UTC)

// sent returns a document in progress with the signers ann, ben and cy in this order.
func sent(t *testing.T, ordered bool) signing.Document {
	t.Helper()
	c, err := signing.Create(signing.Document{
		Kind: signing.KindPDF, Name: "Lease", AuthorEmail: "olga@example.com", Ordered: ordered, ExpiresFor: 24 * time.Hour,
		Signers: []signing.Signer{{Email: "ann@example.com"}, {Email: "ben@example.com"}, {Email: "cy@example.com"}},
	}, signing.NewIDs(1), noon)
	require.NoError(t, err)
	c, err = c.Document.Send(noon)
	require.NoError(t, err)
	return *c.Document
}

func eventTypes(c signing.Change) (types []signing.EventType) {
	for _, e := range c.Events {
		types = append(types, e.Type)
	}
	return types
}

func recipients(c signing.Change, kind signing.MessageKind) (to []string) {
	for _, m := range c.Messages {
		if m.Kind == kind {
			to = append(to, m.To)
		}
	}
	return to
}

// requireRefused checks which rule refused, and, if it is given any, which signers the refusal names.
func requireRefused(t *testing.T, err error, rule signing.Rule, signers ...string) {
	t.Helper()
	var refusal *signing.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, rule, refusal.Rule, "%v", err)
	if len(signers) > 0 {
		require.Equal(t, signers, refusal.Signers)
	}
}

func TestSign_enforcesTheOrder(t *testing.T) {
	d := sent(t, true)
	_, err := d.View("ben@example.com", signing.Origin{}, noon)
	requireRefused(t, err, signing.RuleTurn)
	_, err = d.Sign("cy@example.com", signing.SignParams{}, noon)
	requireRefused(t, err, signing.RuleTurn)
	_, err = d.Decline("ben@example.com", "", signing.Origin{}, noon)
	requireRefused(t, err, signing.RuleTurn)

	c, err := d.Sign("ann@example.com", signing.SignParams{}, noon)
	require.NoError(t, err)
	require.Equal(t, []string{"ben@example.com"}, recipients(c, signing.MessageInvitation), "the next in order is invited")
	_, err = c.Document.Sign("cy@example.com", signing.SignParams{}, noon)
	requireRefused(t, err, signing.RuleTurn, "ben@example.com")
	_, err = c.Document.Sign("ann@example.com", signing.SignParams{}, noon)
	requireRefused(t, err, signing.RuleSigned)
	_, err = c.Document.Sign("dan@example.com", signing.SignParams{}, noon)
	requireRefused(t, err, signing.RuleSigner, "ann@example.com", "ben@example.com", "cy@example.com")
	_, err = c.Document.Decline("ann@example.com", "", signing.Origin{}, noon)
	requireRefused(t, err, signing.RuleSigned)
}

func TestSign_withoutOrder(t *testing.T) {
	d := sent(t, false)
	for _, email := range []string{"cy@example.com", "ann@example.com"} {
		c, err := d.Sign(email, signing.SignParams{From: signing.Origin{IP: "192.0.2.1"}}, noon)
		require.NoError(t, err)
		require.Equal(t, signing.StatusPending, c.Document.Status)
		require.Equal(t, []signing.EventType{signing.EventSignatureSigned}, eventTypes(c))
		d = *c.Document
	}
	c, err := d.Sign("ben@example.com", signing.SignParams{From: signing.Origin{IP: "192.0.2.2"}}, noon)
	require.NoError(t, err)
	require.Equal(t, signing.StatusSigned, c.Document.Status)
	require.Equal(t, []signing.EventType{signing.EventSignatureSigned, signing.EventSignatureCompleted}, eventTypes(c))
	require.Equal(t, 1, c.Events[0].Signer, "the signed event names who signed")
	require.Equal(t, -1, c.Events[1].Signer)
	require.Equal(t, "192.0.2.2", c.Document.Signers[1].IP)
	require.True(t, c.Document.AllSigned())
	require.False(t, c.Document.CompletedAt.IsZero())
	require.Equal(t, signing.ActionComplete, c.Audit[0].Action)
	require.Len(t, recipients(c, signing.MessageNotice), 4, "author and signers hear of it")
}

// TestSign_sharesNoMemory signs the same document twice, once as it turns out and once otherwise.
func TestSign_sharesNoMemory(t *testing.T) {
	d := sent(t, false)
	fields := func(values ...string) (p signing.SignParams) {
		for _, v := range values {
			p.Values = append(p.Values, signing.FieldValue{Kind: "text", Page: 1, Label: "x", Value: v})
		}
		return p
	}
	c, err := d.Sign("ann@example.com", fields("1", "2", "3"), noon)
	require.NoError(t, err)
	c, err = c.Document.Sign("ben@example.com", fields("4"), noon)
	require.NoError(t, err)
	d = *c.Document
	require.Greater(t, cap(d.Values), 4, "there is room that both could write to")
	one, err := d.Sign("cy@example.com", fields("one"), noon)
	require.NoError(t, err)
	_, err = d.Sign("cy@example.com", fields("other"), noon)
	require.NoError(t, err)
	require.Equal(t, "one", one.Document.Values[4].Value)
	require.False(t, (&signing.Document{}).AllSigned(), "a draft without signers")
}

func TestView_isReportedOnce(t *testing.T) {
	d := sent(t, false)
	c, err := d.View("ann@example.com", signing.Origin{IP: "192.0.2.1"}, noon)
	require.NoError(t, err)
	require.Equal(t, []signing.EventType{signing.EventSignatureViewed}, eventTypes(c))
	require.Equal(t, signing.SignerViewed, c.Document.Signers[0].Status())
	require.Equal(t, signing.SignerPending, d.Signers[0].Status(), "the document it was called on stays as it was")

	again, err := c.Document.View("ann@example.com", signing.Origin{IP: "192.0.2.1"}, noon)
	require.NoError(t, err)
	require.False(t, again.Changed())
	require.Empty(t, again.Events)

	signed, err := d.Sign("ann@example.com", signing.SignParams{}, noon)
	require.NoError(t, err)
	after, err := signed.Document.View("ann@example.com", signing.Origin{}, noon)
	require.NoError(t, err)
	require.False(t, after.Changed(), "looking after signing tells nobody")
}

func TestDecline_endsTheDocument(t *testing.T) {
	d := sent(t, false)
	c, err := d.Decline("ben@example.com", "wrong price", signing.Origin{IP: "192.0.2.1"}, noon)
	require.NoError(t, err)
	require.Equal(t, signing.StatusDeclined, c.Document.Status)
	require.True(t, c.Document.Signers[1].HasDeclined())
	require.Equal(t, signing.SignerPending, c.Document.Signers[1].Status())
	require.Equal(t, "wrong price", c.Audit[0].Note)
	require.Empty(t, c.Events, "the interface has no event for it")
	require.Equal(t, []string{"olga@example.com"}, recipients(c, signing.MessageNotice))
	_, err = c.Document.Sign("ann@example.com", signing.SignParams{}, noon)
	requireRefused(t, err, signing.RuleStatus)
}

func TestSign_lastSignatureThatIsRefused(t *testing.T) {
	c, err := signing.Create(signing.Document{Signers: []signing.Signer{{Email: "ann@example.com"}}}, signing.NewIDs(1), noon)
	require.NoError(t, err)
	_, err = c.Document.Sign("ann@example.com", signing.SignParams{}, noon)
	require.EqualError(t, err, "cannot sign a document that is DRAFT: it must be PENDING")
}

func TestSign_rolesThatShareAnAddress(t *testing.T) {
	c, err := signing.Create(signing.Document{Ordered: true, Signers: []signing.Signer{
		{Email: "ann@example.com", RoleTitle: "Client"}, {Email: "ann@example.com", RoleTitle: "Witness"},
	}}, signing.NewIDs(1), noon)
	require.NoError(t, err)
	c, err = c.Document.Send(noon)
	require.NoError(t, err)
	for _, role := range []string{"Client", "Witness"} {
		c, err = c.Document.Sign("ann@example.com", signing.SignParams{}, noon)
		require.NoError(t, err)
		require.Equal(t, role, c.Document.Signers[c.Events[0].Signer].RoleTitle)
	}
	require.Equal(t, signing.StatusSigned, c.Document.Status)
	_, err = c.Document.Sign("ann@example.com", signing.SignParams{}, noon)
	requireRefused(t, err, signing.RuleStatus)
}

func TestSign_equalIndexesInTheOrder(t *testing.T) {
	c, err := signing.Create(signing.Document{Ordered: true, Signers: []signing.Signer{
		{Email: "ann@example.com", Order: 1}, {Email: "ben@example.com", Order: 1}, {Email: "cy@example.com", Order: 2},
	}}, signing.NewIDs(1), noon)
	require.NoError(t, err)
	c, err = c.Document.Send(noon)
	require.NoError(t, err)
	require.Equal(t, []string{"ann@example.com", "ben@example.com"}, recipients(c, signing.MessageInvitation))
	_, err = c.Document.Sign("ann@example.com", signing.SignParams{}, noon)
	require.NoError(t, err)
	c, err = c.Document.Sign("ben@example.com", signing.SignParams{}, noon)
	require.NoError(t, err)
	require.Empty(t, c.Messages, "cy waits for ann")
	_, err = c.Document.Sign("cy@example.com", signing.SignParams{}, noon)
	requireRefused(t, err, signing.RuleTurn)
}
