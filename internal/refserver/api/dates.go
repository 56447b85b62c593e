package api

import "time"

// The dates of a filter are RFC 3339 times, or dates, which mean the whole day in UTC. Both ends
// are included. The service documents neither.

// dates reads dateFrom and dateTo. A missing input is zero. The returned times are both included in
// the filter.
func (a *API) dates(in *input) (from, to time.Time) {
	from, _ = a.instant(in, "dateFrom")
	to, isDay := a.instant(in, "dateTo")
	if isDay {
		to = to.Add(24*time.Hour - time.Millisecond)
	}
	if !from.IsZero() && !to.IsZero() && from.After(to) {
		in.problem("dateFrom must not be after dateTo")
	}
	return from, to
}

// instant returns a time input, or zero if it is missing. isDay reports that the input is a date
// without a time; t is then the beginning of the day.
func (a *API) instant(in *input, name string) (t time.Time, isDay bool) {
	s := in.scalar(name)
	if s == "" {
		return time.Time{}, false
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil && !t.IsZero() {
		return t, true
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.IsZero() { // the zero time means that the input is missing
		in.problem("%s must be a time as in 2006-01-02T15:04:05.000Z, or a date as in 2006-01-02", name)
	}
	return t.UTC(), false
}
