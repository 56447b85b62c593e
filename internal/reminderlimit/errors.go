package reminderlimit

import "time"

// A WaitError means that a slot comes later than the caller may wait for it.
type WaitError struct {
	Wait time.Duration // time from now until the slot
	// PastDeadline is true if the deadline of ctx comes before the slot, and false if the caller's
	// own limit does. The earlier limit counts.
	PastDeadline bool
}

// Error returns a text with the wait.
func (e *WaitError) Error() string { return "the next slot comes in " + e.Wait.String() }

// A StoreError means that the store failed, so it is unknown whether a slot was taken.
type StoreError struct{ Err error }

// Error returns a text with the error of the store.
func (e *StoreError) Error() string { return "the store did not respond: " + e.Err.Error() }
