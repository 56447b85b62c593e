//go:build unix && !linux && !darwin

package filelock

import (
	"errors"
	"os"
)

func tryContent(*os.File, bool) error { return errors.ErrUnsupported }
