package signing

import (
	"errors"
	"fmt"
	"strings"
)

// Status is a document's status, spelled as the service spells it.
type Status string

// The statuses of a document. StatusPending is "in progress". Its literal is not documented by the service; api.Profile
// may set another.
const (
	StatusDraft    Status = "DRAFT"
	StatusPending  Status = "PENDING"
	StatusSigned   Status = "SIGNED"
	StatusPaid     Status = "PAID"
	StatusDeclined Status = "DECLINED"
	StatusExpired  Status = "EXPIRED"
	StatusDeleted  Status = "DELETED"
	StatusVoid     Status = "VOID"
)

// Statuses lists every status, in the order of the interface description.
var Statuses = [...]Status{
	StatusDraft, StatusPending, StatusSigned, StatusPaid, StatusDeclined, StatusExpired, StatusDeleted, StatusVoid,
}

// Terminal reports whether no signer can act on the document any more. A SIGNED document can still be paid; nothing
// else leaves a terminal status.
func (s Status) Terminal() bool { return s != StatusDraft && s != StatusPending }

// Action is something that is done to a document.
type Action string

// The actions. A signature is ActionSign while others still have to sign, and ActionComplete when it is the last one.
// ActionCreate, ActionSubmit and ActionFinish only occur in audit entries: no status allows or refuses them.
const (
	ActionCreate   Action = "create"
	ActionSubmit   Action = "submit"
	ActionSend     Action = "send"
	ActionView     Action = "view"
	ActionSign     Action = "sign"
	ActionComplete Action = "complete"
	ActionDecline  Action = "decline"
	ActionPay      Action = "pay"
	ActionVoid     Action = "void"
	ActionRemind   Action = "remind"
	ActionExpire   Action = "expire"
	ActionDelete   Action = "delete"
	ActionArchive  Action = "archive"
	ActionFinish   Action = "finish"
)

// Actions lists every action that [Next] knows.
var Actions = [...]Action{
	ActionSend, ActionView, ActionSign, ActionComplete, ActionDecline, ActionPay, ActionVoid, ActionRemind, ActionExpire,
	ActionDelete, ActionArchive,
}

// transitions is the state machine: for each status, the actions that it allows and the status they lead to. What is
// not listed is refused.
//
// VOID → VOID is a repeat and changes nothing. Void and remind follow the interface description word for word: void is
// refused in SIGNED, PAID, DECLINED, EXPIRED and DELETED, a reminder in SIGNED, VOID, EXPIRED, DECLINED and DELETED, so
// PAID (and DRAFT) accept one and remind nobody. What delete and archive allow is not documented by the service; a
// finished document cannot be deleted here, so that terminal stays terminal.
var transitions = map[Status]map[Action]Status{
	StatusDraft: {
		ActionSend:    StatusPending,
		ActionVoid:    StatusVoid,
		ActionRemind:  StatusDraft,
		ActionDelete:  StatusDeleted,
		ActionArchive: StatusDraft,
	},
	StatusPending: {
		ActionView:     StatusPending,
		ActionSign:     StatusPending,
		ActionComplete: StatusSigned,
		ActionDecline:  StatusDeclined,
		ActionVoid:     StatusVoid,
		ActionRemind:   StatusPending,
		ActionExpire:   StatusExpired,
		ActionDelete:   StatusDeleted,
		ActionArchive:  StatusPending,
	},
	StatusSigned:   {ActionPay: StatusPaid, ActionArchive: StatusSigned},
	StatusPaid:     {ActionRemind: StatusPaid, ActionArchive: StatusPaid},
	StatusDeclined: {ActionArchive: StatusDeclined},
	StatusExpired:  {ActionArchive: StatusExpired},
	StatusVoid:     {ActionVoid: StatusVoid, ActionArchive: StatusVoid},
	StatusDeleted:  {},
}

// Next returns the status that action leads to in status s, or a [*Refusal] with [RuleStatus]. It knows nothing of
// signers: the commands on [Document] check those and then ask Next.
func Next(s Status, action Action) (Status, error) {
	next, ok := transitions[s][action]
	if !ok {
		return s, &Refusal{Action: action, Status: s, Rule: RuleStatus}
	}
	return next, nil
}

// Rule names the rule that refused an act.
type Rule string

// The rules that refuse acts.
const (
	RuleStatus Rule = "status"         // the document's status does not allow the action
	RuleTurn   Rule = "signing_order"  // signers before this one have not signed yet
	RuleSigned Rule = "already_signed" // this signer has signed
	RuleSigner Rule = "no_such_signer" // the document has no such signer
)

// ErrRefused is matched by every [Refusal].
var ErrRefused = errors.New("refused by the service's rules")

// Refusal is the error of an act that the rules do not allow. Nothing was changed.
type Refusal struct {
	Action  Action
	Status  Status // of the document when it was asked
	Rule    Rule
	Signers []string // addresses: with RuleTurn of who has to sign first, with RuleSigner of all that there are
}

// Error is the reason, with the addresses of the signers that it tells of.
func (r *Refusal) Error() string {
	if len(r.Signers) > 0 {
		return r.Reason() + ": " + strings.Join(r.Signers, ", ")
	}
	return r.Reason()
}

// Is reports whether target is [ErrRefused].
func (r *Refusal) Is(target error) bool { return target == ErrRefused }

// Reason says what was refused and which statuses allow it. It has no personal data.
func (r *Refusal) Reason() string {
	switch r.Rule {
	case RuleTurn:
		return fmt.Sprintf("cannot %s: it is not this signer's turn, others have to sign first", r.Action)
	case RuleSigned:
		return fmt.Sprintf("cannot %s: this signer has already signed", r.Action)
	case RuleSigner:
		return fmt.Sprintf("cannot %s: no such signer among the document's %d", r.Action, len(r.Signers))
	}
	return fmt.Sprintf("cannot %s a document that is %s: it must be %s", r.Action, r.Status, statusesFor(r.Action))
}

// statusesFor names the statuses that allow the action.
func statusesFor(action Action) string {
	var all []string
	for _, s := range Statuses {
		if _, ok := transitions[s][action]; ok {
			all = append(all, string(s))
		}
	}
	return strings.Join(all, " or ")
}

// Invalid is the error of a command whose input is wrong, whatever the document's status.
type Invalid struct {
	Field   string // as the interface spells it, for example receiversList[0].roleTitle; in options and records its Go name; may be empty
	Problem string // says what is wrong with it
}

// ErrInvalid is matched by every [Invalid].
var ErrInvalid = errors.New("invalid")

// Error returns the field and the problem.
func (e *Invalid) Error() string { return strings.TrimPrefix(e.Field+": "+e.Problem, ": ") }

// Is reports whether target is [ErrInvalid].
func (e *Invalid) Is(target error) bool { return target == ErrInvalid }
