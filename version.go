package signforms

import (
	"cmp"

	"github.com/signforms/signforms-go/internal/buildinfo"
)

// Version returns this module's version, such as v0.2.0, as the go command recorded it in the program. It is "devel" in
// programs and tests that were built from a checkout. It is part of the User-Agent.
func Version() string { return cmp.Or(buildinfo.Version("github.com/signforms/signforms-go"), "devel") }
