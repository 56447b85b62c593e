package filestore

import "time"

// NewAt returns the store in a file with another clock.
func NewAt(path string, clock func() (session string, since time.Duration, err error)) *LimitStore {
	return &LimitStore{path: path, clock: clock}
}
