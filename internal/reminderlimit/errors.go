package reminderlimit

import "time"

// A WaitError says that a slot comes later than the caller may wait for it.
type WaitError struct {
	Wait time.Duration // until the slot, from now
	// PastDeadline is true if ctx's deadline is the limit that was hit, and false if it is the caller's own, which is
	// earlier.
	PastDeadline bool
}

// Error names the wait.
func (e *WaitError) Error() string { return "the next slot comes in " + e.Wait.String() }

// A StoreError says that the store failed, so that no slot is known to be taken.
type StoreError struct{ Err error }

// Error is what the store said.
func (e *StoreError) Error() string { return "the store did not answer: " + e.Err.Error() }
