package reminderlimit

// Len returns how many lines there are.
func (l *Lines) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.m)
}

// Waiting returns how many callers wait in all lines.
func (l *Lines) Waiting() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, own := range l.m {
		n += len(own.callers)
	}
	return n
}
