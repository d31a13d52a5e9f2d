// Package blocktest checks storozh blocks in tests: against the published JSON Schema, docs/storozh-block.schema.json, and
// against the rules of contract C4 that a schema can't express (counts, order, unique units). Every block in every test goes
// through it. No production code imports it.
package blocktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"storozh/core"
	"storozh/core/manifest"
)

// Validate fails the test unless block is a block as C4 has it. It takes a core.Block or *core.Block, which is encoded as
// the write-back does, or JSON text as []byte, json.RawMessage or string.
func Validate(t testing.TB, block any) {
	t.Helper()
	raw, err := text(block)
	if err == nil {
		err = Check(raw)
	}
	if err != nil {
		t.Errorf("the storozh block breaks C4: %v\n%s", err, raw)
	}
}

// ValidateManifest fails the test unless raw is a manifest with a valid block in it.
func ValidateManifest(t testing.TB, raw []byte) {
	t.Helper()
	block, ok := manifest.Extract(raw)
	if !ok {
		t.Errorf("no storozh block in the manifest, or no manifest: %.200s", raw)
		return
	}
	Validate(t, block)
}

// Check is Validate without a test: nil, or everything that is wrong with the block's JSON text.
func Check(raw []byte) error {
	schema, err := compiled()
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	if err := schema.Validate(value); err != nil {
		return err
	}
	var block core.Block
	if err := json.Unmarshal(raw, &block); err != nil {
		return fmt.Errorf("the schema passes what core.Block does not take: %w", err)
	}
	return errors.Join(append(counts(block), order(block.Flags)...)...)
}

// text turns what a test has into the block's JSON text.
func text(block any) ([]byte, error) {
	switch b := block.(type) {
	case core.Block:
		return manifest.EncodeBlock(b, "")
	case *core.Block:
		if b == nil {
			return nil, errors.New("no block: nil")
		}
		return manifest.EncodeBlock(*b, "")
	case json.RawMessage:
		return b, nil
	case []byte:
		return b, nil
	case string:
		return []byte(b), nil
	default:
		return nil, fmt.Errorf("can't take a block from %T", block)
	}
}

// compiled is the published schema, found from this source file.
var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	_, here, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(here) {
		return nil, errors.New("the path of blocktest.go is unknown; don't build tests with -trimpath")
	}
	return jsonschema.NewCompiler().Compile(filepath.Join(filepath.Dir(here), "..", "..", "docs", "storozh-block.schema.json"))
})
