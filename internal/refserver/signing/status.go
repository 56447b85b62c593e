package signing

import (
	"errors"
	"fmt"
	"strings"
)

// Status is a document's status, in the spelling of the service.
type Status string

// The statuses of a document. StatusPending means "in progress". The service does not document its
// literal, and api.Profile may set another.
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

// Terminal reports whether no signer can act on the document any longer. A SIGNED document can
// still be paid; no other action changes a terminal status.
func (s Status) Terminal() bool { return s != StatusDraft && s != StatusPending }

// Action is an operation on a document.
type Action string

// The actions. A signature is ActionComplete if it is the last one, and ActionSign otherwise.
// ActionCreate, ActionSubmit and ActionFinish occur only in audit entries; no status allows or
// refuses them.
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

// Actions lists every action that [Next] accepts.
var Actions = [...]Action{
	ActionSend, ActionView, ActionSign, ActionComplete, ActionDecline, ActionPay, ActionVoid, ActionRemind, ActionExpire,
	ActionDelete, ActionArchive,
}

// transitions is the state machine. For each status it has the allowed actions and the status to
// which each leads. All other actions are refused.
//
// VOID → VOID is a repeat and changes nothing. Void and remind follow the interface description
// word for word:
//
//   - Void is refused in SIGNED, PAID, DECLINED, EXPIRED and DELETED.
//   - A reminder is refused in SIGNED, VOID, EXPIRED, DECLINED and DELETED. So PAID and DRAFT
//     accept a reminder, but nobody is reminded.
//
// The service does not document which statuses allow delete and archive. Here a finished document
// cannot be deleted, so that a terminal status stays terminal.
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

// Next returns the status to which action leads from status s, or a [*Refusal] with [RuleStatus].
// Next does not check signers; the commands on [Document] check them and then call Next.
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
	Status  Status // status of the document at the time of the act
	Rule    Rule
	Signers []string // addresses: with RuleTurn, of the signers who have to sign first; with RuleSigner, of all signers
}

// Error returns the reason, with the addresses in Signers.
func (r *Refusal) Error() string {
	if len(r.Signers) > 0 {
		return r.Reason() + ": " + strings.Join(r.Signers, ", ")
	}
	return r.Reason()
}

// Is reports whether target is [ErrRefused].
func (r *Refusal) Is(target error) bool { return target == ErrRefused }

// Reason returns the refused action and the statuses that allow it. It contains no personal data.
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

// Invalid is the error of a command whose input is invalid, whatever the document's status.
type Invalid struct {
	Field   string // path in the spelling of the interface, such as receiversList[0].roleTitle; for options and records the Go name; may be empty
	Problem string // what is wrong with the field
}

// ErrInvalid is matched by every [Invalid].
var ErrInvalid = errors.New("invalid")

// Error returns the field and the problem.
func (e *Invalid) Error() string { return strings.TrimPrefix(e.Field+": "+e.Problem, ": ") }

// Is reports whether target is [ErrInvalid].
func (e *Invalid) Is(target error) bool { return target == ErrInvalid }
