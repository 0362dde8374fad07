package short

import "strings"

// token is a piece of a name: text, or a list in brackets.
type token struct {
	text  string // "" for a list
	open  byte   // '<', '(', '[' or '{' of a list
	items [][]token
}

// Bounds of names that are parsed. The deepest names of real programs nest some forty deep.
const (
	maxName  = 1 << 14 // bytes
	maxDepth = 100     // lists in each other
)

// parser reads a readable name of a function of C++ or Rust, however the compiler or the demangler
// has spelled it.
type parser struct {
	s  string
	at int
}

// parse splits a name. ok is false if brackets do not match, or the name is too long.
func parse(name string) (list []token, ok bool) {
	if len(name) > maxName {
		return nil, false
	}
	p := parser{s: name}
	items, ok := p.items(0, 0)
	if !ok || len(items) != 1 {
		return nil, false
	}
	return items[0], true
}

// closing returns the bracket that ends a list.
func closing(open byte) byte {
	switch open {
	case '<':
		return '>'
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// items reads up to the bracket that ends the list which open begins, or up to the name's end if
// open is 0.
func (p *parser) items(open byte, depth int) (items [][]token, ok bool) {
	if depth > maxDepth {
		return nil, false
	}
	var list []token
	for p.at < len(p.s) {
		c := p.s[p.at]
		switch {
		case open != 0 && c == closing(open) && !(c == '>' && p.arrow()):
			p.at++
			return append(items, trimmed(list)), true
		case c == ',' && open != 0:
			p.at++
			items, list = append(items, trimmed(list)), nil
		case opens(p, c):
			p.at++
			inner, ok := p.items(c, depth+1)
			if !ok {
				return nil, false
			}
			list = append(list, token{open: c, items: inner})
		case c == ')' || c == ']' || c == '}':
			return nil, false
		default:
			list = append(list, token{text: p.word()})
		}
	}
	return append(items, list), open == 0
}

// arrow reports whether a '>' is the end of "->" or "=>".
func (p *parser) arrow() bool {
	return p.at > 0 && (p.s[p.at-1] == '-' || p.s[p.at-1] == '=')
}

// opens reports whether c begins a list. A '<' may also be an operator in an expression.
func opens(p *parser, c byte) bool {
	switch c {
	case '(', '[', '{':
		return true
	case '<':
		rest := p.s[p.at+1:]
		return rest != "" && !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "<(")
	}
	return false
}

// operators are the names behind "operator", the longest first where one begins another.
var operators = []string{
	"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "==", "!=", "&&", "||", "++", "--",
	"+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<", ">", "=", "!", "+", "-", "*", "/", "%", "^", "&", "|", "~", ",", `""`,
}

// word reads an identifier, with the operator if it is "operator", a literal, "::", or one byte.
func (p *parser) word() string {
	begin := p.at
	for p.at < len(p.s) && identifies(p.s[p.at]) {
		p.at++
	}
	rest := p.s[p.at:]
	switch {
	case p.at > begin && p.s[begin:p.at] == "operator":
		for _, o := range operators {
			if strings.HasPrefix(rest, o) {
				p.at += len(o)
				break
			}
		}
	case p.at > begin:
	case strings.HasPrefix(rest, "::"):
		p.at += 2
	case rest[0] == '\'' && len(rest) > 3 && rest[1] == '\\' && rest[3] == '\'':
		p.at += 4
	case rest[0] == '\'' && len(rest) > 2 && rest[2] == '\'':
		p.at += 3
	case rest[0] == '"' && strings.IndexByte(rest[1:], '"') >= 0:
		p.at += strings.IndexByte(rest[1:], '"') + 2
	default:
		p.at++
	}
	return p.s[begin:p.at]
}

func identifies(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c == '.' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isWord reports whether t is an identifier.
func (t *token) isWord() bool { return t.text != "" && identifies(t.text[0]) }

// trimmed returns a list without blanks around it.
func trimmed(list []token) []token {
	for len(list) > 0 && list[0].text == " " {
		list = list[1:]
	}
	for len(list) > 0 && list[len(list)-1].text == " " {
		list = list[:len(list)-1]
	}
	return list
}
