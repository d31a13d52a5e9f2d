package manifest

import "bytes"

// blockName is the name of the block's member (C4).
const blockName = "storozh"

var bom = []byte("\xef\xbb\xbf")

// pick is a wanted member of an object: the last one of its name.
type pick struct {
	member
	times int // how often the name was given; 0: not there
}

// object is one JSON object with the members that were asked for.
type object struct {
	open  int // offset of '{'
	end   int // offset right behind '}'
	count int // members in all
	first member
	last  member
	picks []pick // parallel to the names asked for
}

// object reads an object at the scanner's position. Only the wanted members are kept: text with millions of members must
// not cost a multiple of its size.
func (s *scanner) object(names ...string) (object, error) {
	o := object{open: s.pos, picks: make([]pick, len(names))}
	err := s.members(func(m member) {
		if o.count == 0 {
			o.first = m
		}
		o.count++
		o.last = m
		for i, name := range names {
			if named(s.data[m.name.from:m.name.to], name) {
				o.picks[i] = pick{member: m, times: o.picks[i].times + 1}
			}
		}
	})
	o.end = s.pos
	return o, err
}

// named tells whether a quoted name, escapes decoded, is exactly want (plain ASCII).
func named(quoted []byte, want string) bool {
	inner := quoted[1 : len(quoted)-1]
	if len(inner) == len(want) {
		return string(inner) == want
	}
	// An escape makes a name longer, up to six bytes for one.
	if len(inner) < len(want) || len(inner) > 6*len(want) || bytes.IndexByte(inner, '\\') < 0 {
		return false
	}
	return unquote(quoted) == want
}

// readDocument reads the whole text: an optional BOM, one object, nothing behind it. Its error is explained.
func readDocument(raw []byte, names ...string) (object, error) {
	s := &scanner{data: raw}
	if bytes.HasPrefix(raw, bom) {
		s.pos = len(bom)
	}
	s.space()
	if s.peek() != '{' {
		return object{}, explain(raw, s.expected("'{' at the beginning of a JSON object in UTF-8"))
	}
	o, err := s.object(names...)
	if err != nil {
		return object{}, explain(raw, err)
	}
	s.space()
	if s.pos < len(raw) {
		return object{}, explain(raw, s.expected("the end of the text behind the object"))
	}
	return o, nil
}

// cut is the range that disappears with the block's member, one separating comma included: what Splice appends, and for a
// block that stands first the comma behind it.
func (o object) cut(raw []byte, block pick) span {
	if block.times == 0 {
		return span{o.end, o.end}
	}
	c := span{block.after, block.value.to}
	if block.member == o.first && o.count > 1 {
		c.to += bytes.IndexByte(raw[c.to:], ',') + 1 // only white space stands between
	}
	return c
}
