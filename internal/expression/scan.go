package expression

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a piece of the text. kind is 'n' for a name, '0' for a number, '"' and '\” for a string
// and a character, 0 for the end, else the character itself; ':' is "::", 'c' is ":". Operators of
// two characters are in pairs.
type token struct {
	kind byte
	text string // of a string or a character: the bytes that it stands for
	at   int    // offset in bytes
}

type scanner struct {
	text string
	at   int
}

// fail makes an error about the character at offset at.
func (s *scanner) fail(at int, what string) error {
	return &Error{Text: s.text, Column: utf8.RuneCountInString(s.text[:min(at, len(s.text))]) + 1, What: what}
}

func isName(c rune, first bool) bool {
	return c == '_' || c == '$' || unicode.IsLetter(c) || !first && unicode.IsDigit(c)
}

// next returns the next token.
func (s *scanner) next() (token, error) {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
	if s.at == len(s.text) {
		return token{at: s.at}, nil
	}
	at, rest := s.at, s.text[s.at:]
	switch c, size := utf8.DecodeRuneInString(rest); {
	case isName(c, true):
		n := size
		for n < len(rest) {
			c, size := utf8.DecodeRuneInString(rest[n:])
			if !isName(c, false) {
				break
			}
			n += size
		}
		s.at += n
		return token{'n', rest[:n], at}, nil
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		n := 0
		for n < len(rest) && !strings.HasPrefix(rest[n:], "..") && (rest[n] == '.' || rest[n] == '_' || alphanumeric(rest[n]) || n > 0 && strings.IndexByte("+-", rest[n]) >= 0 && exponent(rest[:n])) {
			n++
		}
		s.at += n
		return token{'0', rest[:n], at}, nil
	case c == '"' || c == '\'':
		return s.quoted(rest[0])
	case strings.HasPrefix(rest, "->*"):
		s.at += 3
		return token{'Q', "->*", at}, nil
	case len(rest) > 1 && pairs[rest[:2]] != 0:
		s.at += 2
		return token{pairs[rest[:2]], rest[:2], at}, nil
	case rest[0] == ':':
		s.at++
		return token{'c', ":", at}, nil
	case strings.IndexByte("(){}[],.*&-!~+/%|^<>=?@", rest[0]) >= 0:
		s.at++
		return token{rest[0], rest[:1], at}, nil
	}
	return token{}, s.fail(at, "a character that no expression has")
}

// pairs are the kinds of the tokens of two characters.
var pairs = map[string]byte{"::": ':', "->": 'P', "==": 'E', "!=": 'N', "<=": 'L', ">=": 'G', "<<": 'S', ">>": 'R', "&&": 'A', "||": 'O', ".*": 'M', "..": 'D'}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// exponent reports whether the sign of an exponent may follow.
func exponent(number string) bool {
	last := number[len(number)-1] | 0x20
	hex := len(number) > 1 && number[1]|0x20 == 'x'
	return last == 'e' && !hex || last == 'p' && hex
}

// simpleEscapes are the characters that a backslash and a letter stand for (C11, 6.4.4.4).
var simpleEscapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', 'e': 27, '\\': '\\', '\'': '\'', '"': '"', '?': '?'}

// quoted reads a string or a character.
func (s *scanner) quoted(quote byte) (token, error) {
	t := token{kind: quote, at: s.at}
	var b []byte
	for s.at++; ; {
		if s.at == len(s.text) {
			return t, s.fail(t.at, "a quote without an end")
		}
		c := s.text[s.at]
		s.at++
		switch {
		case c == quote:
			t.text = string(b)
			return t, nil
		case c != '\\':
			b = append(b, c)
			continue
		case s.at == len(s.text):
			return t, s.fail(t.at, "a quote without an end")
		}
		c = s.text[s.at]
		digits, base, most := 0, 8, 3
		start := s.at
		if c == 'x' {
			start, base, most = s.at+1, 16, 2
		}
		for digits < most && start+digits < len(s.text) {
			if _, err := strconv.ParseUint(s.text[start:start+digits+1], base, 16); err != nil {
				break
			}
			digits++
		}
		if v, err := strconv.ParseUint(s.text[start:start+digits], base, 16); digits > 0 && err == nil && v < 256 {
			b = append(b, byte(v))
			s.at = start + digits
		} else if v, ok := simpleEscapes[c]; ok {
			b = append(b, v)
			s.at++
		} else {
			return t, s.fail(s.at-1, "an escape that C does not have")
		}
	}
}
