package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"storozh/core"
)

// Splice returns raw with block as the value of its top-level `storozh` member (C4). A member that is there has its value
// replaced, the last one if there are two; else the member is appended right behind the last value in the file's own style.
// All other bytes stay identical. The error is that of Parse.
func Splice(raw []byte, block core.Block) ([]byte, error) {
	doc, err := readDocument(raw, blockName)
	if err != nil {
		return nil, err
	}
	style := styleOf(raw, doc)
	value, err := EncodeBlock(block, style.indent)
	if err != nil {
		return nil, err
	}
	if style.newline == "\r\n" { // inside JSON text a line feed is always escaped, so these are line ends only
		value = bytes.ReplaceAll(value, []byte("\n"), []byte("\r\n"))
	}
	if old := doc.picks[0]; old.times > 0 {
		return slices.Concat(raw[:old.value.from], value, raw[old.value.to:]), nil
	}
	at, comma := doc.open+1, ""
	if doc.count > 0 {
		at, comma = doc.last.value.to, ","
	}
	return slices.Concat(raw[:at], []byte(comma+style.lead()), value, raw[at:]), nil
}

// Strip returns raw without its top-level `storozh` member, the last one if there are two: the content that was judged.
// Without such a member it returns raw itself. The error is that of Parse.
func Strip(raw []byte) ([]byte, error) {
	doc, err := readDocument(raw, blockName)
	if err != nil {
		return nil, err
	}
	cut := doc.cut(raw, doc.picks[0])
	if cut.from == cut.to {
		return raw, nil
	}
	return slices.Concat(raw[:cut.from], raw[cut.to:]), nil
}

// Extract returns a copy of the block's value, of the last one if there are two; false if there is none or raw is not one
// JSON object.
func Extract(raw []byte) (json.RawMessage, bool) {
	doc, err := readDocument(raw, blockName)
	if err != nil || doc.picks[0].times == 0 {
		return nil, false
	}
	at := doc.picks[0].value
	return bytes.Clone(raw[at.from:at.to]), true
}

// EncodeBlock encodes a block as the value of a top-level member in a file that indents by indent; an empty indent means one
// line without white space. `flags` and each `against` are lists, never null; the caller's block is not changed.
func EncodeBlock(block core.Block, indent string) ([]byte, error) {
	flags := make([]core.Flag, len(block.Flags))
	copy(flags, block.Flags)
	for i := range flags {
		if flags[i].Against == nil {
			flags[i].Against = []string{}
		}
	}
	block.Flags = flags
	var out []byte
	var err error
	if indent == "" {
		out, err = json.Marshal(block)
	} else {
		out, err = json.MarshalIndent(block, indent, indent)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the storozh block: %w", err)
	}
	return out, nil
}
