package localllm

import "time"

// Hurry makes retries and the breaker quick enough for tests.
func (c *Client) Hurry(firstWait, breakerWait time.Duration) {
	c.firstWait = firstWait
	c.breaker = newBreaker(breakerWait)
}

// Classify opens classify to tests.
func Classify(op string, status int, said string) (Kind, bool) { return classify(op, status, said) }
