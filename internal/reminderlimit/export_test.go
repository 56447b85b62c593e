package reminderlimit

// Len returns how many lists there are.
func (l *Waiters) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.m)
}

// Waiting returns how many callers wait in all lists.
func (l *Waiters) Waiting() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, own := range l.m {
		n += len(own.waiters)
	}
	return n
}
