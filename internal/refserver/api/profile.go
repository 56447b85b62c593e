package api

import (
	"cmp"
	"encoding"
	"fmt"
	"net/http"
	"reflect"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// Profile is one reading of the points that the interface leaves open. Use it to test a client and
// a receiver against other readings than the one that this SDK assumes.
type Profile struct {
	// Lists.
	PageSize     int  // records per page if the request has no limit; default 10; for documents, at most MaxLimit
	MaxLimit     int  // largest limit of a list of documents; default 100; with a smaller MaxLimit, the client's All needs a Limit, because it requests 100
	OldestFirst  bool // documents are sorted oldest first if the request has no sortOrder
	NoPagination bool // lists of documents come without pagination
	CountPage    bool // documentsCount is the number of documents on the page, not of all that match; with NoPagination no total is reported

	InProgress string // literal of the status in progress; default "PENDING"

	// Refusals.
	RefusalStatus int         // HTTP status if a document's status forbids the operation; default 409
	KeyStatus     int         // HTTP status for a missing or wrong key or workspace; default 403
	ErrorLayout   ErrorLayout // layout of error bodies; default LayoutMessage

	// Deliveries.
	Timestamps     TimestampFormat // format of x-timestamp; default UnixSeconds
	SignOnce       bool            // all attempts of a delivery have the same timestamp and signature
	UntypedSamples bool            // samples leave out webhookEvent, as the sample in the interface's description does

	// Endpoints sets the method and path of operations, as the client's Options.Endpoints does. The
	// code that sets it has checked the endpoints.
	Endpoints map[Operation]Route
}

func (p Profile) withDefaults() Profile {
	p.MaxLimit = cmp.Or(p.MaxLimit, 100)
	p.PageSize = cmp.Or(p.PageSize, 10)
	p.InProgress = cmp.Or(p.InProgress, "PENDING")
	p.RefusalStatus = cmp.Or(p.RefusalStatus, http.StatusConflict)
	p.KeyStatus = cmp.Or(p.KeyStatus, http.StatusForbidden)
	return p
}

// Check refuses settings that no service can have.
func (p Profile) Check() error {
	for f, value := range reflect.ValueOf(p).Fields() {
		if word, ok := value.Interface().(encoding.TextMarshaler); ok {
			if _, err := word.MarshalText(); err != nil {
				return unusable(""+f.Name, "%v", err)
			}
		}
	}
	switch {
	case p.PageSize < 0:
		return unusable("PageSize", "%d is not 1 or more, or 0 for the default", p.PageSize)
	case p.MaxLimit < 0:
		return unusable("MaxLimit", "%d is not 1 or more, or 0 for the default", p.MaxLimit)
	case !refusal4xx(p.RefusalStatus):
		return unusable("RefusalStatus", "%d is not 400 to 499, or 0 for the default", p.RefusalStatus)
	case !refusal4xx(p.KeyStatus):
		return unusable("KeyStatus", "%d is not 400 to 499, or 0 for the default", p.KeyStatus)
	}
	return nil
}

func refusal4xx(status int) bool { return status == 0 || 400 <= status && status <= 499 }

func unusable(field, format string, args ...any) error {
	return &signing.Invalid{Field: "Options.Profile." + field, Problem: fmt.Sprintf(format, args...)}
}
