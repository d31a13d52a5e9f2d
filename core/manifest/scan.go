package manifest

// maxDepth caps nesting, as encoding/json does, so that hostile text can't exhaust the stack.
const maxDepth = 10_000

// span is a range of bytes, from included, to excluded.
type span struct{ from, to int }

// scanner walks over JSON text once and validates it (RFC 8259; invalid UTF-8 inside strings is let through, as
// encoding/json does).
type scanner struct {
	data  []byte
	pos   int
	depth int
}

// peek returns the byte at the position, or 0 at the end; 0 is never valid outside a string.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// space moves over white space.
func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// value moves over one value of any kind.
func (s *scanner) value() error {
	switch c := s.peek(); {
	case c == '"':
		return s.text()
	case c == '{':
		return s.members(nil)
	case c == '[':
		return s.elements(nil)
	case c == '-' || digit(c):
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	default:
		return s.expected("a value")
	}
}

// enter counts one level of nesting and moves over its opening bracket.
func (s *scanner) enter() error {
	s.depth++
	if s.depth > maxDepth {
		return &fault{at: s.pos, expected: "at most 10,000 levels of nesting"}
	}
	s.pos++
	s.space()
	return nil
}

// leave moves over the closing bracket.
func (s *scanner) leave() {
	s.depth--
	s.pos++
}

// member is one name and value of an object.
type member struct {
	after int  // where the previous member's value ends, or right behind the opening brace
	name  span // quotes included
	value span
}

// members moves over an object and calls visit, if there is one, for each member in order.
func (s *scanner) members(visit func(member)) error {
	if s.peek() != '{' {
		return s.expected("'{'")
	}
	after := s.pos + 1
	if err := s.enter(); err != nil {
		return err
	}
	if s.peek() == '}' {
		s.leave()
		return nil
	}
	for {
		m := member{after: after}
		if err := s.member(&m); err != nil {
			return err
		}
		if visit != nil {
			visit(m)
		}
		after = m.value.to
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
		case '}':
			s.leave()
			return nil
		default:
			return s.expected("',' or '}'")
		}
	}
}

// member reads one name and value.
func (s *scanner) member(m *member) error {
	if s.peek() != '"' {
		return s.expected("a name in double quotes")
	}
	m.name.from = s.pos
	if err := s.text(); err != nil {
		return err
	}
	m.name.to = s.pos
	s.space()
	if s.peek() != ':' {
		return s.expected("':' after a name")
	}
	s.pos++
	s.space()
	m.value.from = s.pos
	if err := s.value(); err != nil {
		return err
	}
	m.value.to = s.pos
	return nil
}

// elements moves over a list and calls visit, if there is one, for each element in order.
func (s *scanner) elements(visit func(span)) error {
	if err := s.enter(); err != nil {
		return err
	}
	if s.peek() == ']' {
		s.leave()
		return nil
	}
	for {
		from := s.pos
		if err := s.value(); err != nil {
			return err
		}
		if visit != nil {
			visit(span{from, s.pos})
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
		case ']':
			s.leave()
			return nil
		default:
			return s.expected("',' or ']'")
		}
	}
}
