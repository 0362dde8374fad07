package expression

import (
	"slices"
	"strings"
)

// words are those of C's own types, and of types that have names of two words.
var words = []string{"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "bool", "struct", "union", "enum", "class"}

// known are names of types of C's library that need no debug information.
var known = []string{"size_t", "ssize_t", "off_t", "pid_t", "uid_t", "gid_t", "time_t", "intptr_t", "uintptr_t", "ptrdiff_t",
	"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"}

var qualifiers = []string{"const", "volatile", "restrict", "static"}

// cast reads a type and its closing parenthesis, behind the opening one. If what stands there is no type, it
// takes nothing, and returns nil.
func (p *parser) cast() (*Type, error) {
	back, token := p.at, p.token
	undo := func() (*Type, error) {
		p.at, p.token = back, token
		return nil, nil
	}
	t := &Type{At: p.column(token.at)}
	var names []string
	own := false
	for p.token.kind == 'n' {
		word := p.token.text
		switch {
		case slices.Contains(qualifiers, word):
		case len(names) == 0 || slices.Contains(words, word) || isTag(names[len(names)-1]):
			own = own || slices.Contains(words, word) || slices.Contains(known, word)
			names = append(names, word)
		default:
			return undo()
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		for p.token.kind == ':' { // a qualified name
			if err := p.advance(); err != nil {
				return nil, err
			}
			if p.token.kind != 'n' || len(names) == 0 {
				return undo()
			}
			names[len(names)-1] += "::" + p.token.text
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
	}
	for p.token.kind == '*' || p.token.kind == 'n' && slices.Contains(qualifiers, p.token.text) {
		if p.token.kind == '*' {
			t.Pointers++
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 || p.token.kind != ')' {
		return undo()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	// (name) followed by an operand is a cast; followed by nothing, or by arguments, it is a name.
	if !own && t.Pointers == 0 && !slices.Contains([]byte{'n', '0', '"', '\'', ':', '(', '~', '!'}, p.token.kind) {
		return undo()
	}
	t.Name = strings.Join(names, " ")
	return t, nil
}

func isTag(word string) bool {
	return slices.Contains([]string{"struct", "union", "enum", "class"}, word)
}
