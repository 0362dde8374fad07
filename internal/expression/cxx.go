package expression

import (
	"slices"
	"strings"
)

// words1 and words2 are operators that C++ spells as words, too: before an operand and between two
// ([lex.digraph]).
var (
	words1 = map[string]Kind{"not": Not, "compl": Complement, "bitand": Address}
	words2 = map[string]byte{"and": 'A', "or": 'O', "bitand": '&', "bitor": '|', "xor": '^', "not_eq": 'N'}
)

// spelled reports whether the next token is a word, which may be an operator of C++.
func (p *parser) spelled() bool { return p.token.kind == 'n' && p.language == "c++" }

// operator returns the operator that the next token is.
func (p *parser) operator() (op operator, ok bool) {
	kind := p.token.kind
	switch {
	case p.spelled():
		kind = words2[p.token.text]
	case kind == 'n' && p.language == "rust" && p.token.text == "as":
		kind = 'a'
	case kind == 'n', kind == 'a', (kind == 'M' || kind == 'Q') && p.isType == nil:
		return op, false
	}
	op, ok = operators[kind]
	return op, ok
}

// sequence reads expressions with commas between them, of which the last one counts.
func (p *parser) sequence(depth int) (*Node, error) {
	n, err := p.expression(depth)
	for err == nil && p.isType != nil && p.token.kind == ',' {
		var both, right *Node
		if err = p.chained(); err != nil {
			return nil, err
		}
		if both, err = p.node(Binary, p.token.at); err != nil {
			return nil, err
		}
		if err = p.advance(); err != nil {
			return nil, err
		}
		right, err = p.expression(depth)
		both.Text, both.Args = ",", []*Node{n, right}
		n = both
	}
	return n, err
}

var namedCasts = []string{"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"}

// typed reads what begins with a type: C++'s named casts and T(x), or a type where an expression
// should be. If there is no type, it takes nothing, and returns nil.
func (p *parser) typed(depth int) (*Node, error) {
	if p.token.kind != 'n' && p.token.kind != ':' || p.language == "go" {
		return nil, nil
	}
	at := p.token.at
	if p.language == "c++" && slices.Contains(namedCasts, p.token.text) {
		return p.namedCast(at, depth)
	}
	back, token := p.at, p.token
	t, err := p.simpleType()
	if err != nil || t == nil {
		p.at, p.token = back, token
		return nil, err
	}
	n, err := p.node(TypeName, at)
	if err != nil {
		return nil, err
	}
	if n.Type = t; p.token.kind != '(' || p.language != "c++" {
		if err := p.declarator(t, 0); err != nil {
			p.at, p.token = back, token
			return nil, nil
		}
		return n, nil
	}
	n.Kind = Cast
	if err := p.advance(); err != nil {
		return nil, err
	}
	if depth++; depth > maxDepth {
		return nil, p.fail(p.token.at, "an expression that is nested too deep")
	}
	arg, err := p.expression(depth)
	if err == nil {
		err = p.expect(')', "the arguments are not closed")
	}
	n.Args = []*Node{arg}
	return n, err
}

// simpleType reads the name of a type without what is made of it; nil if there is none.
func (p *parser) simpleType() (*Type, error) {
	if p.token.kind == 'n' && !p.isWord(p.token.text) && !slices.Contains(qualifiers, p.token.text) || p.token.kind == ':' {
		t := &Type{At: p.column(p.token.at)}
		n := &Node{}
		if err := p.name(n); err != nil {
			return nil, nil // the one who reads it as a name says what is wrong
		}
		// A type that nothing is called with is what the evaluation finds if there is no variable
		// of its name.
		if t.Name = strings.TrimPrefix(n.Text, "::"); p.token.kind != '(' || !p.isType(t.Name) {
			return nil, nil
		}
		return t, nil
	}
	return p.specifiers()
}

// namedCast reads static_cast<T>(x) and such.
func (p *parser) namedCast(at, depth int) (*Node, error) {
	n, err := p.node(Cast, at)
	if err != nil {
		return nil, err
	}
	n.Text = p.token.text
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect('<', "the type of a cast is missing"); err != nil {
		return nil, err
	}
	from := p.token.at
	t, err := p.typeName(0)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, p.fail(from, "a type is missing")
	}
	n.Type = t
	if err := p.expect('>', "the type of a cast is not closed"); err != nil {
		return nil, err
	}
	if err := p.expect('(', "the operand of a cast is missing"); err != nil {
		return nil, err
	}
	if depth++; depth > maxDepth {
		return nil, p.fail(p.token.at, "an expression that is nested too deep")
	}
	arg, err := p.sequence(depth)
	if err == nil {
		err = p.expect(')', "a parenthesis is not closed")
	}
	n.Args = []*Node{arg}
	return n, err
}

// alignOf reads alignof and the type in parentheses behind it.
func (p *parser) alignOf() (*Node, error) {
	n, err := p.node(AlignOf, p.token.at)
	if err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect('(', "a type in parentheses is missing"); err != nil {
		return nil, err
	}
	t, err := p.typeInside(')')
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, p.fail(p.token.at, "a type is missing")
	}
	n.Type = t
	return n, nil
}

// overload reads the types of parameters behind the name of a function, and their closing
// parenthesis. If there are none, it takes nothing.
func (p *parser) overload(n *Node) (ok bool, err error) {
	back, token := p.at, p.token
	if p.token.kind == ')' {
		return false, nil
	}
	d := Derivation{}
	if err := p.parameters(&d, 0); err != nil || len(d.Parameters) == 0 {
		p.at, p.token = back, token
		return false, nil
	}
	for p.token.kind == 'n' && slices.Contains(qualifiers, p.token.text) { // of a method
		if err := p.advance(); err != nil {
			return false, err
		}
	}
	n.Overload, n.Parameters = true, d.Parameters
	return true, nil
}

// prototype reads a name that was in quotes: it may have the types of parameters.
func (p *parser) prototype(n *Node, text string) error {
	n.Text = text
	if !strings.Contains(text, "(") && !strings.Contains(text, "<") {
		return nil
	}
	in := *p
	in.scanner = scanner{text: text}
	if in.advance() != nil {
		return nil
	}
	x, err := in.primary(maxDepth)
	if err != nil || x.Kind != Name {
		return nil
	}
	if in.token.kind == '(' && in.advance() == nil {
		if in.token.kind == ')' {
			x.Overload = in.advance() == nil
		} else if ok, err := in.overload(x); !ok || err != nil {
			return nil
		}
	}
	if in.token.kind == 0 {
		n.Text, n.Overload, n.Parameters = x.Text, x.Overload, x.Parameters
	}
	return nil
}

// prefixed takes the prefix of a character or string: L, u, U or u8.
func (p *parser) prefixed() (prefix string, err error) {
	if p.token.kind != 'n' || p.isType == nil || !slices.Contains([]string{"L", "u", "U", "u8"}, p.token.text) || p.at >= len(p.text) {
		return "", nil
	}
	if c := p.text[p.at]; c != '"' && c != '\'' || p.at != p.token.at+len(p.token.text) {
		return "", nil
	}
	prefix = p.token.text
	return prefix, p.advance()
}
