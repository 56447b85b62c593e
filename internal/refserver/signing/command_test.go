package signing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

func TestCreate_fillsIn(t *testing.T) {
	ids := signing.NewIDs(7)
	pdf, err := signing.Create(signing.Document{Kind: signing.KindPDF, Signers: []signing.Signer{{Email: "ann@example.com"}}}, ids, noon)
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, pdf.Document.ID)
	require.Regexp(t, `^[0-9a-f]{32}$`, pdf.Document.Signers[0].Token)
	require.Equal(t, 1, pdf.Document.Signers[0].Order)
	require.Equal(t, "2026-11-18T12:00:00.987Z", pdf.Document.CreatedAt.Format(time.RFC3339Nano), "times are whole milliseconds")

	template, err := signing.Create(signing.Document{Kind: signing.KindTemplate}, ids, noon)
	require.NoError(t, err)
	require.Regexp(t, `^6afd9340[0-9a-f]{16}$`, template.Document.ID, "an ObjectId begins with its second")

	unaddressed, err := signing.Create(signing.Document{Signers: []signing.Signer{{Email: "Ann <ann@example.com>"}}}, ids, noon)
	require.NoError(t, err)
	_, err = unaddressed.Document.Send(noon)
	require.EqualError(t, err, `Signers[0].Email: must be an e-mail address alone, as in ann@example.com, not "Ann <ann@example.com>"`)
	_, err = template.Document.Send(noon)
	require.EqualError(t, err, "Signers: is empty: a document needs one before it can be sent")
}

func TestCreate_idsRepeatWithTheSeed(t *testing.T) {
	first := func(seed uint64) string { return signing.NewIDs(seed).UUID() }
	require.Equal(t, first(3), first(3))
	require.NotEqual(t, first(3), first(4))
	require.NotEqual(t, first(0), first(0), "seed 0 is a random one")
}

func TestSend_invitesWhoseTurnItIs(t *testing.T) {
	for _, row := range []struct {
		ordered bool
		want    int
	}{{ordered: true, want: 1}, {ordered: false, want: 3}} {
		t.Run(fmt.Sprint(row.ordered), func(t *testing.T) {
			d := sent(t, row.ordered)
			invited := 0
			for _, s := range d.Signers {
				if !s.InvitedAt.IsZero() {
					invited++
				}
			}
			require.Equal(t, row.want, invited, "ordered %v", row.ordered)
			require.Equal(t, d.SentAt.Add(24*time.Hour), d.ExpiresAt)
		})
	}
}

func TestVoid_twice(t *testing.T) {
	d := sent(t, true)
	c, err := d.Void(noon.Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, signing.StatusVoid, c.Document.Status)
	require.Equal(t, []string{"ann@example.com"}, recipients(c, signing.MessageNotice), "who was never invited hears nothing")
	again, err := c.Document.Void(noon.Add(2 * time.Hour))
	require.NoError(t, err)
	require.False(t, again.Changed())
	require.Equal(t, c.Document.UpdatedAt, again.Document.UpdatedAt)
}

func TestRemind_onlyWhoseTurnItIs(t *testing.T) {
	d := sent(t, true)
	c, err := d.Remind(noon.Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, []string{"ann@example.com"}, recipients(c, signing.MessageReminder))
	require.Equal(t, d.Signers[0].Token, c.Messages[0].Token, "a reminder holds the signing link")
	require.Equal(t, d.UpdatedAt, c.Document.UpdatedAt)
	require.Empty(t, c.Events)

	c, err = sent(t, false).Remind(noon)
	require.NoError(t, err)
	require.Len(t, c.Messages, 3)
	for _, status := range []signing.Status{signing.StatusPaid, signing.StatusDraft} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			c, err = signing.Document{Status: status, Signers: []signing.Signer{{Email: "ann@example.com"}}}.Remind(noon)
			require.NoError(t, err)
			require.Empty(t, c.Messages, "%s: nobody is pending", status)
		})
	}
}

func TestArchive_keepsTheStatus(t *testing.T) {
	d := sent(t, false)
	c, err := d.Archive(noon)
	require.NoError(t, err)
	require.True(t, c.Document.Archived)
	require.Equal(t, signing.StatusPending, c.Document.Status)
	again, err := c.Document.Archive(noon)
	require.NoError(t, err)
	require.False(t, again.Changed())
}

func TestCommand_payExpireDelete(t *testing.T) {
	d := sent(t, false)
	expired, err := d.Expire(d.ExpiresAt)
	require.NoError(t, err)
	require.Equal(t, signing.StatusExpired, expired.Document.Status)
	require.Equal(t, signing.ActorService, expired.Audit[0].Actor)
	deleted, err := d.Delete(noon)
	require.NoError(t, err)
	require.Equal(t, signing.StatusDeleted, deleted.Document.Status)
	_, err = d.Pay(noon)
	requireRefused(t, err, signing.RuleStatus)
	paid, err := signing.Document{Status: signing.StatusSigned}.Pay(noon)
	require.NoError(t, err)
	require.Equal(t, signing.StatusPaid, paid.Document.Status)
}
