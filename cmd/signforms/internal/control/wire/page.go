package wire

// Page is a part of a list. Lists begin with the newest item; audit trails begin with the oldest.
type Page[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`          // how many items match the filters
	Next  int `json:"next,omitempty"` // the offset of the next page; 0: there is none
}

// Count returns how many items match.
func (p *Page[T]) Count() int { return p.Total }

// Late returns the page as the response to a wait that took too long.
func (p *Page[T]) Late(e *Error) any {
	return struct {
		Error *Error `json:"error"`
		*Page[T]
	}{e, p}
}

// MaxLimit is the largest number of items of a page.
const MaxLimit = 1000
