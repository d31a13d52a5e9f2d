package app

import "runtime/debug"

// What pages make is short-lived, on a heap that is small: collecting it less often takes a quarter off the review page (BenchmarkReviewPage).
// Big manifests must not multiply with that, so the heap has a soft limit.
const (
	gcPercent   = 300
	memoryLimit = 1 << 30 // bytes
)

// TuneMemory sets the garbage collector for this program's kind of work. Leave it alone where the user has set it.
func TuneMemory() {
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
}
