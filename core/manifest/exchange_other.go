//go:build !linux && !darwin

package manifest

import "errors"

// exchange is not known here.
func exchange(_, _ string) error { return errors.ErrUnsupported }
