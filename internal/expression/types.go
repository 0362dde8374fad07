package expression

import (
	"slices"
	"strconv"
	"strings"
)

// Type is a type as it is written.
type Type struct {
	At int
	// Name is the type's name without qualifiers: "unsigned long", "struct stat", "size_t".
	Name            string
	Const, Volatile bool // of what Name names
	// Pointers is how many * follow. If anything else follows, it is 0, and Derived has all.
	Pointers int
	// Derived is what is made of the type, in this order: a pointer to it, an array of those.
	Derived []Derivation

	own bool // the name is one of C's own
}

// Derivation makes one type of another.
type Derivation struct {
	Kind            byte // '*', '&' for a reference, 'R' for C++'s &&, '[' for an array, '(' for a function
	Const, Volatile bool // of the pointer
	Count           uint64
	Parameters      []*Type
}

// String writes the type's name and its pointers as C has them.
func (t *Type) String() string {
	text := t.Name
	for i := range t.Pointers {
		if i == 0 {
			text += " "
		}
		text += "*"
	}
	return text
}

// words are C's own types, and types that have names of two words.
var words = []string{"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "bool", "struct", "union", "enum", "class", "__int128", "_Complex"}

// known are names of types of C's library that need no debug information.
var known = []string{"size_t", "ssize_t", "off_t", "pid_t", "uid_t", "gid_t", "time_t", "intptr_t", "uintptr_t", "ptrdiff_t",
	"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"}

// isWord reports whether a name is one of words. In Go and Rust, variables may have these names,
// and so they may in Fortran and other languages whose expressions have C's form.
func (p *parser) isWord(name string) bool {
	return p.language != "go" && p.language != "rust" && slices.Contains(words, name) && (p.isVariable == nil || !p.isVariable(name))
}

var qualifiers = []string{"const", "volatile", "restrict", "static"}

// cast reads a type and its closing parenthesis, behind the opening one. If what stands there is no
// type, it takes nothing, and returns nil.
func (p *parser) cast() (*Type, error) {
	back, token := p.at, p.token
	t, err := p.typeInside(')')
	if err != nil || t == nil {
		return nil, err
	}
	// (name) followed by an operand is a cast; followed by nothing, or by arguments, it is a name.
	if p.isType == nil && !t.own && t.Pointers == 0 && (len(t.Derived) > 0 || !slices.Contains([]byte{'n', '0', '"', '\'', ':', '(', '~', '!'}, p.token.kind)) {
		p.at, p.token = back, token
		return nil, nil
	}
	return t, nil
}

// typeInside reads a type up to a closing character. If what stands there is no type, it takes
// nothing, and returns nil.
func (p *parser) typeInside(closing byte) (*Type, error) {
	back, token := p.at, p.token
	t, err := p.typeName(0)
	if t != nil && err == nil && p.token.kind == closing {
		return t, p.advance()
	}
	p.at, p.token = back, token
	return nil, nil
}

// typeName reads a type; nil if there is none. An error says what cannot follow.
func (p *parser) typeName(depth int) (*Type, error) {
	if depth > maxTypeDepth {
		return nil, p.fail(p.token.at, "a type that is nested too deep")
	}
	t, err := p.specifiers()
	if err != nil || t == nil {
		return nil, err
	}
	if err := p.declarator(t, depth); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(t.Derived, func(d Derivation) bool { return d.Kind != '*' }) {
		t.Pointers = len(t.Derived)
	}
	return t, nil
}

// specifiers reads the name of a type with its qualifiers; nil if there is none.
func (p *parser) specifiers() (*Type, error) {
	t := &Type{At: p.column(p.token.at)}
	var names []string
	for p.token.kind == 'n' || p.token.kind == ':' && len(names) == 0 {
		word := p.token.text
		if slices.Contains(qualifiers, word) {
			t.Const = t.Const || word == "const"
			t.Volatile = t.Volatile || word == "volatile"
			if err := p.advance(); err != nil {
				return nil, err
			}
			continue
		}
		tagged := len(names) > 0 && isTag(names[len(names)-1])
		if word = ""; p.token.kind == 'n' {
			word = p.token.text
		}
		switch {
		case p.isWord(word):
			if tagged {
				return nil, nil
			}
			t.own = true
			names = append(names, word)
			if err := p.advance(); err != nil {
				return nil, err
			}
			continue
		case len(names) > 0 && !tagged:
			return nil, nil
		}
		name := &Node{}
		if err := p.name(name); err != nil {
			return nil, err
		}
		t.own = t.own || slices.Contains(known, name.Text)
		if p.isType != nil && !tagged && !p.isType(strings.TrimPrefix(name.Text, "::")) {
			return nil, nil
		}
		names = append(names, strings.TrimPrefix(name.Text, "::"))
	}
	if len(names) == 0 {
		return nil, nil
	}
	t.Name = strings.Join(names, " ")
	return t, nil
}

const (
	maxTypeDepth = 16
	maxDerived   = 64
)

// declarator reads what follows the name of a type, without the name that it would declare (C11,
// 6.7.7).
func (p *parser) declarator(t *Type, depth int) error {
	for p.token.kind == '*' || p.token.kind == '&' || p.token.kind == 'A' || p.token.kind == 'n' && slices.Contains(qualifiers, p.token.text) {
		switch {
		case len(t.Derived) >= maxDerived || depth > maxTypeDepth:
			return p.fail(p.token.at, "a type that is nested too deep")
		case p.token.kind == '*':
			t.Derived = append(t.Derived, Derivation{Kind: '*'})
		case p.token.kind == '&':
			t.Derived = append(t.Derived, Derivation{Kind: '&'})
		case p.token.kind == 'A':
			t.Derived = append(t.Derived, Derivation{Kind: 'R'})
		default:
			constant, volatile := &t.Const, &t.Volatile
			if n := len(t.Derived); n > 0 {
				constant, volatile = &t.Derived[n-1].Const, &t.Derived[n-1].Volatile
			}
			*constant = *constant || p.token.text == "const"
			*volatile = *volatile || p.token.text == "volatile"
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
	inner := &Type{}
	if p.token.kind == '(' { // of a pointer to a function or an array; else of parameters
		back, token := p.at, p.token
		if err := p.advance(); err != nil {
			return err
		}
		if p.token.kind == '*' || p.token.kind == '&' || p.token.kind == 'A' || p.token.kind == '(' {
			if err := p.declarator(inner, depth+1); err != nil {
				return err
			}
			if err := p.expect(')', "a parenthesis is not closed"); err != nil {
				return err
			}
		} else {
			p.at, p.token = back, token
		}
	}
	var behind []Derivation
	for p.token.kind == '[' || p.token.kind == '(' {
		if len(behind) >= maxDerived {
			return p.fail(p.token.at, "a type that is nested too deep")
		}
		d := Derivation{Kind: p.token.kind}
		if err := p.advance(); err != nil {
			return err
		}
		if d.Kind == '[' {
			n, err := strconv.ParseUint(p.token.text, 0, 63)
			if p.token.kind != '0' || err != nil {
				return p.fail(p.token.at, "the number of elements is missing")
			}
			d.Count = n
			if err := p.advance(); err != nil {
				return err
			}
			if err := p.expect(']', "an index is not closed"); err != nil {
				return err
			}
		} else if err := p.parameters(&d, depth); err != nil {
			return err
		}
		behind = append(behind, d)
	}
	slices.Reverse(behind)
	t.Derived = append(append(t.Derived, behind...), inner.Derived...)
	if len(t.Derived) > maxDerived {
		return p.fail(p.token.at, "a type that is nested too deep")
	}
	return nil
}

// parameters reads the types of a function's parameters.
func (p *parser) parameters(d *Derivation, depth int) error {
	for p.token.kind != ')' {
		if len(d.Parameters) >= maxDerived {
			return p.fail(p.token.at, "too many parameters")
		}
		t, err := p.typeName(depth + 1)
		if err != nil {
			return err
		}
		if t == nil {
			return p.fail(p.token.at, "a type is missing")
		}
		d.Parameters = append(d.Parameters, t)
		if p.token.kind == ',' {
			if err := p.advance(); err != nil {
				return err
			}
		} else if p.token.kind != ')' {
			return p.fail(p.token.at, "a parenthesis is not closed")
		}
	}
	return p.advance()
}

func isTag(word string) bool {
	return slices.Contains([]string{"struct", "union", "enum", "class"}, word)
}
