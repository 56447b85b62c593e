package otel

import (
	"net/http"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
)

// schema names the version of OpenTelemetry's semantic conventions that defines the names below.
const schema = "https://opentelemetry.io/schemas/1.43.0"

// The attributes that the semantic conventions define.
const (
	keyErrorType     = attribute.Key("error.type")
	keyOriginal      = attribute.Key("http.request.method_original")
	keyMethod        = attribute.Key("http.request.method")
	keyResend        = attribute.Key("http.request.resend_count")
	keyStatusCode    = attribute.Key("http.response.status_code")
	keyServer        = attribute.Key("server.address")
	keyPort          = attribute.Key("server.port")
	keyURL           = attribute.Key("url.full")
	keyScheme        = attribute.Key("url.scheme")
	keyPath          = attribute.Key("url.path")
	keySystem        = attribute.Key("messaging.system")
	keyOperationName = attribute.Key("messaging.operation.name")
	keyOperationType = attribute.Key("messaging.operation.type")
	keyDestination   = attribute.Key("messaging.destination.name") // the type of the event
	keyMessageID     = attribute.Key("messaging.message.id")
)

// other stands for every value that is not in a short list of known values, so that strangers
// cannot add new values.
const other = "_OTHER"

// methodOf returns the method of a request, or other for a method that the conventions do not list.
// Methods are case-sensitive.
func methodOf(method string) string {
	switch method {
	case http.MethodConnect, http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodPost,
		http.MethodPut, http.MethodTrace, "QUERY":
		return method
	}
	return other
}

// withMethod appends the method of a request. If the method becomes other, withMethod also appends
// the original method, cut off, because anybody can send any text.
func withMethod(attributes []attribute.KeyValue, method string) []attribute.KeyValue {
	known := methodOf(method)
	if known == other {
		attributes = append(attributes, keyOriginal.String(method[:min(len(method), 64)]))
	}
	return append(attributes, keyMethod.String(known))
}

// clientSpanName returns the name of an attempt's span.
func clientSpanName(method string) string {
	if method = methodOf(method); method != other {
		return method
	}
	return "HTTP"
}

// portOf returns the port to which a request is sent.
func portOf(u *url.URL) int {
	if port, err := strconv.Atoi(u.Port()); err == nil {
		return port
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}
