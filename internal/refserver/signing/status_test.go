package signing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// grid is the state machine as one picture: a row for each status, a column for each action, the next status or a dot for a
// refusal.
const grid = `
            send     view     sign     complete  decline   pay   void  remind   expire   delete   archive
DRAFT       PENDING  .        .        .         .         .     VOID  DRAFT    .        DELETED  DRAFT
PENDING     .        PENDING  PENDING  SIGNED    DECLINED  .     VOID  PENDING  EXPIRED  DELETED  PENDING
SIGNED      .        .        .        .         .         PAID  .     .        .        .        SIGNED
PAID        .        .        .        .         .         .     .     PAID     .        .        PAID
DECLINED    .        .        .        .         .         .     .     .        .        .        DECLINED
EXPIRED     .        .        .        .         .         .     .     .        .        .        EXPIRED
DELETED     .        .        .        .         .         .     .     .        .        .        .
VOID        .        .        .        .         .         .     VOID  .        .        .        VOID
`

func TestNext_everyPair(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(grid), "\n")
	actions := strings.Fields(lines[0])
	require.Len(t, actions, len(signing.Actions), "a column for each action")
	require.Len(t, lines[1:], len(signing.Statuses), "a row for each status")
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		status := signing.Status(cells[0])
		for i, want := range cells[1:] {
			action := signing.Action(actions[i])
			got, err := signing.Next(status, action)
			if want != "." {
				require.NoError(t, err, "Next(%s, %s)", status, action)
				require.Equal(t, signing.Status(want), got, "Next(%s, %s)", status, action)
				continue
			}
			var refusal *signing.Refusal
			require.ErrorAs(t, err, &refusal, "Next(%s, %s) must be refused", status, action)
			require.Equal(t, signing.Refusal{Action: action, Status: status, Rule: signing.RuleStatus}, *refusal)
			require.Equal(t, status, got, "a refusal keeps the status")
		}
	}
}

func TestNext_terminalStatuses(t *testing.T) {
	for _, from := range signing.Statuses {
		for _, action := range signing.Actions {
			to, err := signing.Next(from, action)
			if err == nil && from.Terminal() {
				require.True(t, to == from || from == signing.StatusSigned && to == signing.StatusPaid, "%s by %s to %s", from, action, to)
			}
		}
	}
	require.False(t, signing.StatusDraft.Terminal())
	require.False(t, signing.StatusPending.Terminal())
}

func TestNext_refusalSaysWhy(t *testing.T) {
	for _, row := range []struct {
		rule signing.Rule
		want string
	}{
		{rule: signing.RuleStatus, want: "cannot sign a document that is VOID: it must be PENDING"},
		{rule: signing.RuleTurn, want: "cannot sign: it is not this signer's turn, others have to sign first"},
		{rule: signing.RuleSigned, want: "cannot sign: this signer has already signed"},
		{rule: signing.RuleSigner, want: "cannot sign: no such signer among the document's 2"},
	} {
		t.Run(fmt.Sprint(row.rule), func(t *testing.T) {
			r := &signing.Refusal{
				Action: signing.ActionSign, Status: signing.StatusVoid, Rule: row.rule, Signers: []string{"ann@example.com", "ben@example.com"},
			}
			require.Equal(t, row.want, r.Reason())
			require.EqualError(t, r, row.want+": ann@example.com, ben@example.com")
		})
	}
	_, err := signing.Next(signing.StatusPaid, signing.ActionVoid)
	require.EqualError(t, err, "cannot void a document that is PAID: it must be DRAFT or PENDING or VOID")
}
