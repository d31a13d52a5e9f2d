package manifest

// text moves over a string; the position is at its opening quote.
func (s *scanner) text() error {
	data, i := s.data, s.pos+1
	for i < len(data) {
		c := data[i]
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		switch c {
		case '"':
			s.pos = i + 1
			return nil
		case '\\':
			s.pos = i + 1
			if err := s.escape(); err != nil {
				return err
			}
			i = s.pos
		default:
			return &fault{at: i, expected: "control characters in text to be escaped"}
		}
	}
	s.pos = len(data)
	return s.expected("the closing quote of a text")
}

// escape moves over what follows a backslash.
func (s *scanner) escape() error {
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		s.pos++
		for range 4 {
			if !hexDigit(s.peek()) {
				return s.expected(`four hexadecimal digits after \u`)
			}
			s.pos++
		}
		return nil
	default:
		return s.expected(`one of " \ / b f n r t u after a backslash`)
	}
}

// number moves over a number; its size is nobody's concern, 1e400 is valid.
func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.peek() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return nil
}

// digits moves over one or more digits.
func (s *scanner) digits() error {
	if !digit(s.peek()) {
		return s.expected("a digit")
	}
	for digit(s.peek()) {
		s.pos++
	}
	return nil
}

// word moves over true, false or null.
func (s *scanner) word(w string) error {
	for i := range len(w) {
		if s.peek() != w[i] {
			return s.expected(w)
		}
		s.pos++
	}
	return nil
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func hexDigit(c byte) bool {
	return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
