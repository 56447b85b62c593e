package signforms

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// RemindResult is the result of Remind.
type RemindResult struct {
	Message string         `json:"message"`
	Status  DocumentStatus `json:"status"` // not documented by the service
	// RemindersSent is how many signers were reminded. It is 0 if nobody was pending, and nil if
	// the service did not report the number. If it is nil, only the HTTP status and Message show
	// that somebody was reminded. The service does not document it.
	RemindersSent *int `json:"remindersSent"`
	// RequestID is the x-request-id of the call, and StatusCode the HTTP status of its response, as in [Error].
	RequestID  string `json:"requestId"`
	StatusCode int    `json:"statusCode"`
	// Raw is the response as received.
	Raw RawResponse `json:"-"`
}

// Remind reminds the pending signers of a document. With a signing order, it reminds only the
// signers whose turn it is.
//
// Each request takes a slot of the reminder budget, 5 in 15 minutes per API key. Remind waits for a
// slot at most [Options.ReminderMaxWait], by default not at all. If no slot frees in that time,
// Remind fails at once with ErrRateLimited and sends nothing: Error.Attempts is 0, and
// Error.RetryAfter is the time until a slot frees.
//
//   - ErrRefused: the document's status does not allow it; see [DocumentStatus.CanRemind]. The
//     response may be a 200 that contains such a status, and no number of reminders or the number
//     0.
//   - ErrOutcomeUnknown: the signers may have been reminded, so do not remind them again today. The
//     response may be a 200 without a number whose message contains "not", "limit", "already" or
//     the like.
//
// The service documents only the HTTP status of a response such as this one:
//
//	{"message": "Reminder sent successfully", "documentId": "602c2631-2d49-4647-a609-75331ebb0338", "status": "PENDING", "remindersSent": 1}
func (s *DocumentsService) Remind(ctx context.Context, ref DocumentRef) (*RemindResult, error) {
	return s.remind(ctx, ref, s.c.options.ReminderMaxWait)
}

func (s *DocumentsService) remind(ctx context.Context, ref DocumentRef, maxWait time.Duration) (*RemindResult, error) {
	var answer wireAction
	req := ref.request(sendReminder)
	req.maxWait = maxWait
	resp, err := s.c.perform(ctx, req, func(r *response) error {
		return r.readAction(&answer, ruleReminder)
	})
	if err != nil {
		return nil, err
	}
	return &RemindResult{Message: answer.message(), Status: answer.status(),
		RemindersSent: answer.remindersSent(), RequestID: resp.id, StatusCode: resp.outcome.Status, Raw: resp.outcome.Body}, nil
}

// RemindOutcome is the result for one reference given to RemindAll, or the end of the sequence.
type RemindOutcome struct {
	// Ref is the reference. It is zero in the element that ends the sequence with an error.
	Ref DocumentRef
	// Index is the position of Ref in the references given to RemindAll, from 0. In the element
	// that ends the sequence with an error, it is the position of the first document that still has
	// to be reminded.
	Index int
	// Result is nil if the reminder failed.
	Result *RemindResult
}

// RemindAll reminds any number of documents, in order and one at a time, and yields an outcome for
// each. It waits for slots as long as ctx allows, and ignores Options.ReminderMaxWait: five
// documents every 15 minutes. A refused or failed reminder is an error of that document and does
// not stop the others.
//
// An error that would occur for every later document ends the sequence:
//
//   - ctx has ended, or its deadline comes before the next slot.
//   - The error is ErrForbidden.
//   - The LimitStore does not respond (ErrUnavailable with Error.Attempts 0).
//
// The error is in a separate element, with a zero Ref and the Index at which to continue: pass
// refs[out.Index:] later. A document whose own reminder ended with ErrOutcomeUnknown has its own
// element before that, and is not in refs[out.Index:].
func (s *DocumentsService) RemindAll(ctx context.Context, refs []DocumentRef) iter.Seq2[RemindOutcome, error] {
	return func(yield func(RemindOutcome, error) bool) {
		for i, ref := range refs {
			res, err := s.remind(ctx, ref, -1)
			if failsTheRest(ctx, err) {
				yield(RemindOutcome{Index: i}, err)
				return
			}
			if !yield(RemindOutcome{Ref: ref, Index: i, Result: res}, err) {
				return
			}
		}
	}
}

// failsTheRest reports whether a reminder was not sent for a reason that applies to every later
// reminder too.
func failsTheRest(ctx context.Context, err error) bool {
	switch {
	case err == nil || errors.Is(err, ErrOutcomeUnknown):
		return false
	case ctx == nil || errors.Is(err, errPastDeadline) || errors.Is(err, ErrForbidden) || errors.Is(err, errStoreAway):
		return true
	}
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// Budget is how much of the reminder budget is left.
type Budget struct {
	// Remaining is how many reminders can be sent now, 0 to 5.
	Remaining int
	// NextIn is the time until the next slot frees; 0 if Remaining is not 0.
	NextIn time.Duration
}

// ReminderBudget returns the rest of the reminder budget according to the [LimitStore]. It sends
// nothing, and does not count requests by other software with the same key.
func (s *DocumentsService) ReminderBudget(ctx context.Context) (Budget, error) {
	frees, err := s.c.budget.Peek(ctx)
	if err != nil {
		return Budget{}, s.c.stopError(err, "reminder budget")
	}
	var b Budget
	for b.Remaining < len(frees) && frees[b.Remaining] <= 0 {
		b.Remaining++
	}
	if b.Remaining == 0 {
		b.NextIn = frees[0]
	}
	return b, nil
}

var (
	// errPastDeadline is the cause if the next slot comes after the context's deadline.
	errPastDeadline = fmt.Errorf("the next slot comes later: %w", context.DeadlineExceeded)
	// errStoreAway is the cause if the LimitStore did not respond.
	errStoreAway = errors.New("the limit store did not respond")
)
