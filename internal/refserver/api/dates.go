package api

import "time"

// Dates of a filter. Neither their format nor whether the ends are included is documented by the service.

// DateFormat says which texts a date filter takes.
type DateFormat int

// The formats of dates.
const (
	DateOrTime DateFormat = iota // an RFC 3339 time, or a date, which means that whole day in UTC
	TimeOnly
	DateOnly
)

// DateEnd says what an end of a date filter includes.
type DateEnd int

// The readings of an end. Those of a day use only the day of the given time, in UTC.
const (
	EndIncluded DateEnd = iota // records of that very millisecond too
	EndExcluded
	EndAtDayStart // the first millisecond of the day, included
	EndAtDayEnd   // the last millisecond of the day, included
)

// dates reads dateFrom and dateTo, zero where there is none, as ends that are both included.
func (a *API) dates(in *input) (from, to time.Time) {
	from, fromIsDay := a.instant(in, "dateFrom")
	to, toIsDay := a.instant(in, "dateTo")
	if toIsDay {
		to = dayEnd(to)
	}
	if !from.IsZero() && !to.IsZero() && from.After(to) {
		in.problem("dateFrom must not be after dateTo")
	}
	if !fromIsDay {
		from = a.Profile.DateFrom.move(from, time.Millisecond)
	}
	if !toIsDay {
		to = a.Profile.DateTo.move(to, -time.Millisecond)
	}
	return from, to
}

// instant returns a time input, zero when there is none, and whether it is a date alone: then it is the day's beginning.
func (a *API) instant(in *input, name string) (t time.Time, isDay bool) {
	s := in.scalar(name)
	if s == "" {
		return time.Time{}, false
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil && !t.IsZero() && a.Profile.DateFormat != TimeOnly {
		return t, true
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.IsZero() || a.Profile.DateFormat == DateOnly { // the zero time stands for none
		in.problem("%s must be %s", name, a.Profile.DateFormat)
	}
	return t.UTC(), false
}

func (f DateFormat) String() string {
	const moment, day = "a time as in 2006-01-02T15:04:05.000Z", "a date as in 2006-01-02"
	switch f {
	case TimeOnly:
		return moment
	case DateOnly:
		return day
	}
	return moment + ", or " + day
}

// move returns the included end that t means in this reading. inwards is a millisecond towards the selected records.
func (e DateEnd) move(t time.Time, inwards time.Duration) time.Time {
	switch {
	case t.IsZero():
		return t
	case e == EndExcluded:
		return t.Add(inwards)
	case e == EndAtDayStart:
		return t.Truncate(24 * time.Hour)
	case e == EndAtDayEnd:
		return dayEnd(t)
	}
	return t
}

func dayEnd(t time.Time) time.Time {
	return t.Truncate(24 * time.Hour).Add(24*time.Hour - time.Millisecond)
}
