package handlers

import (
	"fmt"

	"storozh/core"
	"storozh/views"
)

// queueParam reads ?queue=: a name of the inbox's tabs, or the queue's own words. Empty or `all`: every manifest.
func queueParam(s string) (core.Queue, error) {
	if s == "" || s == "all" {
		return "", nil
	}
	for _, q := range views.Queues() {
		if s == views.QueueName(q) || s == string(q) {
			return q, nil
		}
	}
	return "", fmt.Errorf("%w: queue must be yours, other, disagree, done or all", core.ErrInvalid)
}
