package core

import "time"

// Stats is what the metrics count in the database.
type Stats struct {
	Runs       map[Status]int
	WriteBacks map[WriteState]int // of done runs
	QueueAge   time.Duration      // how long the oldest waiting run has waited; 0: none waits
}
