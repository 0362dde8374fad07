package symbol

import (
	"strconv"
	"strings"
)

// plainLinkage reports whether a linkage name of the Itanium C++ ABI is surely one that is shown
// without its parameters: nothing in it can make [keepsParameters] true of its readable form. Then
// the parameters need not be read at all. It goes by the encodings of the ABI's section 5.1, and
// says no where it does not know.
func plainLinkage(name string) bool {
	rest, ok := strings.CutPrefix(name, "_Z")
	if !ok || rest == "" || strings.IndexByte("GTZ", rest[0]) >= 0 {
		return false
	}
	if method, ok := strings.CutPrefix(rest, "N"); ok { // "&" and "&&" of a method's object
		if method = strings.TrimLeft(method, "rVK"); method != "" && (method[0] == 'R' || method[0] == 'O') {
			return false
		}
	}
	for rest != "" {
		c, next := rest[0], byte(0)
		if len(rest) > 1 {
			next = rest[1]
		}
		n := 1 // bytes to go on by
		switch {
		case c >= '0' && c <= '9': // an identifier, behind its length
			digits := strings.TrimLeft(rest, "0123456789")
			length, err := strconv.Atoi(rest[:len(rest)-len(digits)])
			if err != nil || length > len(digits) {
				return false
			}
			if text := digits[:length]; unparsed(text) || strings.Contains(text, "omplex") {
				return false
			}
			rest, n = digits, length
		case c == 'S' && next >= 'a': // of the standard library
			n = 2
		case strings.IndexByte("alr", c) >= 0 && next == 'S' && (strings.HasPrefix(rest[2:], "E") || strings.HasPrefix(rest[2:], "I")) && !strings.HasPrefix(rest[3:], "_"):
			n = 2 // an operator =, <<= or >>=, and no substitution
		case c == 'S', c == 'T': // what was there before; a parameter of the template
			if n = strings.IndexByte(rest, '_') + 1; n == 0 || strings.Trim(rest[1:n-1], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
				return false
			}
		case c == 'L': // a number
			if n = strings.IndexByte(rest, 'E') + 1; n < 3 || strings.Trim(rest[2:n-1], "0123456789") != "" || strings.IndexByte("bcahstijlmxy", next) < 0 {
				return false
			}
		case c == 'D' && strings.IndexByte("012345psiu", next) >= 0, c == 'C' && next >= '1' && next <= '5':
			n = 2
		case strings.IndexByte("UFBnoGXMAQZWYHDC_.$", c) >= 0:
			return false
		case c == 'I' && next == 'E', c == 'J' && next == 'E': // an empty list
			return false
		case c == 's' && next == 's', c == 'l' && next == 'i', c == 'c' && next == 'v', c == 'u' && next >= '0' && next <= '9':
			return false // operator<=>, operator"", a conversion, a type of the compiler's
		}
		rest = rest[n:]
	}
	return true
}
