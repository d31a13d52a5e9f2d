package core

import "time"

// DeliveryVerdict says what became of one request to the webhook.
type DeliveryVerdict string

// The verdicts on a delivery, in the order of the checks of design §7.
const (
	DeliveryUnauthorized DeliveryVerdict = "unauthorized"
	DeliveryTooLarge     DeliveryVerdict = "too large"
	DeliveryBadEncoding  DeliveryVerdict = "bad encoding"
	DeliveryBadJSON      DeliveryVerdict = "bad JSON"
	DeliveryRefused      DeliveryVerdict = "refused"  // another fault of the request, such as an unreadable ?wait
	DeliveryConflict     DeliveryVerdict = "conflict" // its id was used before, with another body
	DeliveryReplay       DeliveryVerdict = "replay"   // its id was used before, with the same body: the first answer again
	DeliveryFailed       DeliveryVerdict = "failed"   // ours: it could not be stored, or the sender went away
	DeliveryAccepted     DeliveryVerdict = "accepted"
)

// DeliveryVerdicts lists all of them, in that order.
func DeliveryVerdicts() []DeliveryVerdict {
	return []DeliveryVerdict{DeliveryUnauthorized, DeliveryTooLarge, DeliveryBadEncoding, DeliveryBadJSON, DeliveryRefused,
		DeliveryConflict, DeliveryReplay, DeliveryFailed, DeliveryAccepted}
}

// Delivery is one request to the webhook as it is kept: everything but its body, and no secret.
type Delivery struct {
	ID         int64
	DeliveryID string            // the sender's webhook-id; empty: none was given
	ReceivedAt time.Time         // UTC
	Remote     string            // the peer's address, without port
	Headers    map[string]string // secrets masked, long values cut
	Size       int64             // bytes of the body as sent; 0 if it was not read
	BodyHash   []byte            // SHA-256 of the decoded body; nil if it was not read
	Verdict    DeliveryVerdict
	Status     int           // HTTP status of the answer; 0: the sender still waits for the run
	Answer     []byte        // body of the answer to an accepted delivery; empty if it is too long to keep
	AnswerBy   time.Time     // when a waiting sender is answered at the latest; zero: nobody waits
	Duration   time.Duration // from the request's arrival to its answer
	ManifestID int64         // 0: none
}
