package guard

import (
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Panic is a panic in a goroutine of a run, as that run's error. Unlike one in the goroutine that called Run, its caller could not recover
// from it, and it would end the process with all other runs in it.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// goSafely is group.Go for a function that may panic on text from outside.
func goSafely(group *errgroup.Group, f func() error) {
	group.Go(func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &Panic{v, debug.Stack()}
			}
		}()
		return f()
	})
}
