package api

import "time"

// Dates of a filter: an RFC 3339 time, or a date, which means that whole day in UTC. Both ends are included. Neither is
// documented by the service.

// dates reads dateFrom and dateTo, zero where there is none, as ends that are both included.
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

// instant returns a time input, zero if there is none, and whether it is a date alone: then it is the day's beginning.
func (a *API) instant(in *input, name string) (t time.Time, isDay bool) {
	s := in.scalar(name)
	if s == "" {
		return time.Time{}, false
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil && !t.IsZero() {
		return t, true
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.IsZero() { // the zero time stands for none
		in.problem("%s must be a time as in 2006-01-02T15:04:05.000Z, or a date as in 2006-01-02", name)
	}
	return t.UTC(), false
}
