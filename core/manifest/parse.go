package manifest

import (
	"crypto/sha256"

	"storozh/core"
)

// The top-level names of C1 that are read, and the block's. Their order is the order of a document's picks.
var topNames = []string{"sessionId", "timestamp", "repos", "session", blockName}

// Parse reads a manifest tolerantly. The error, which wraps core.ErrInvalid, is non-nil only if raw is not one JSON object in
// UTF-8 (a BOM is let through); it names line, column and byte and what was expected there. Any other fault costs one value
// and is a warning that names its place. Strings may hold NUL; invalid UTF-8 and lone surrogates become U+FFFD.
func Parse(raw []byte) (core.Manifest, error) {
	doc, err := readDocument(raw, topNames...)
	if err != nil {
		return core.Manifest{}, err
	}
	return decode(raw, doc), nil
}

// Arrive makes raw ready for storage, and parses it on the way: one scan serves the hash and the manifest. The arrival keeps
// raw itself, not a copy. The error is that of Parse.
func Arrive(raw []byte, src core.Source, target string) (core.Arrival, core.Manifest, error) {
	doc, err := readDocument(raw, topNames...)
	if err != nil {
		return core.Arrival{}, core.Manifest{}, err
	}
	m := decode(raw, doc)
	return core.Arrival{
		Raw:         raw,
		ContentHash: contentHash(raw, doc.cut(raw, doc.picks[len(topNames)-1])),
		SessionID:   m.SessionID,
		Timestamp:   m.Timestamp,
		Source:      src,
		Target:      target,
	}, m, nil
}

// contentHash is SHA-256 over raw without the cut.
func contentHash(raw []byte, cut span) [32]byte {
	h := sha256.New()
	h.Write(raw[:cut.from])
	h.Write(raw[cut.to:])
	return [32]byte(h.Sum(nil))
}
