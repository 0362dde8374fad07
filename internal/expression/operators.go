package expression

import "strings"

// operator is one that stands between operands. Those of a larger rank bind closer (C11, 6.5; GDB's
// @ is below +).
type operator struct {
	text string
	rank int
}

// operators are those between operands, by the kind of their token.
var operators = map[byte]operator{
	'O': {"||", 1}, 'A': {"&&", 2}, '|': {"|", 3}, '^': {"^", 4}, '&': {"&", 5},
	'E': {"==", 6}, 'N': {"!=", 6}, '<': {"<", 7}, '>': {">", 7}, 'L': {"<=", 7}, 'G': {">=", 7},
	'S': {"<<", 8}, 'R': {">>", 8}, '@': {"@", 9}, '+': {"+", 10}, '-': {"-", 10},
	'*': {"*", 11}, '/': {"/", 11}, '%': {"%", 11}, 'a': {"as", 12}, 'M': {".*", 13}, 'Q': {"->*", 13},
}

// maxOperators bounds the operators behind each other, which make a deep tree without parentheses.
const maxOperators = 1 << 10

// expression reads an expression: operands with operators between them, or a choice by ?:.
func (p *parser) expression(depth int) (*Node, error) {
	if p.language == "rust" {
		return p.rustRange(depth)
	}
	return p.conditional(depth)
}

// conditional reads an expression that is no range.
func (p *parser) conditional(depth int) (*Node, error) {
	n, err := p.binary(depth, 1)
	if err != nil || p.token.kind != '?' {
		return n, err
	}
	choice, err := p.node(Conditional, p.token.at)
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, p.fail(p.token.at, "an expression that is nested too deep")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	yes, err := p.conditional(depth + 1)
	if err != nil {
		return nil, err
	}
	if err := p.expect('c', "the ':' of a '?' is missing"); err != nil {
		return nil, err
	}
	no, err := p.conditional(depth + 1)
	choice.Args = []*Node{n, yes, no}
	return choice, err
}

// binary reads operands and the operators of at least a rank between them.
func (p *parser) binary(depth, rank int) (*Node, error) {
	n, err := p.unary(depth)
	for err == nil {
		op, ok := p.operator()
		if !ok || op.rank < rank {
			return n, nil
		}
		if err := p.chained(); err != nil {
			return nil, err
		}
		both, err := p.node(Binary, p.token.at)
		if err != nil {
			return nil, err
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.token.kind == '=' { // += and such
			return nil, p.fail(p.token.at, "an expression cannot assign")
		}
		if op.text == "as" {
			if n, err = p.as(both, n); err != nil {
				return nil, err
			}
			continue
		}
		right, err := p.binary(depth, op.rank+1)
		if err != nil {
			return nil, err
		}
		both.Text, both.Args = op.text, []*Node{n, right}
		n = both
	}
	return n, err
}

// chained counts an operator.
func (p *parser) chained() error {
	if p.operators++; p.operators > maxOperators {
		return p.fail(p.token.at, "too many operators")
	}
	return nil
}

// postfix reads what may stand behind an operand: arguments, an index, a member.
func (p *parser) postfix(n *Node, depth int) (*Node, error) {
	for {
		kind := Call
		switch {
		case p.token.kind == '(':
			if depth++; depth > maxDepth {
				return nil, p.fail(p.token.at, "an expression that is nested too deep")
			}
		case p.token.kind == '[':
			kind = Index
		case p.token.kind == '.', p.token.kind == 'P':
			kind = Member
		case p.token.kind == '0' && strings.HasPrefix(p.token.text, ".") && p.isType != nil:
			return p.fields(n, depth)
		default:
			return n, nil
		}
		if err := p.chained(); err != nil {
			return nil, err
		}
		x, err := p.node(kind, p.token.at)
		if err != nil {
			return nil, err
		}
		x.Arrow = p.token.kind == 'P'
		if err := p.advance(); err != nil {
			return nil, err
		}
		switch kind {
		case Call:
			x.At = n.At
			if p.isType != nil && n.Kind == Name {
				if ok, err := p.overload(n); ok || err != nil {
					if err != nil {
						return nil, err
					}
					continue
				}
			}
			args, err := p.list(')', "an argument is missing", "the arguments are not closed", depth)
			if err != nil {
				return nil, err
			}
			x.Args = append([]*Node{n}, args...)
		case Index:
			if err := p.index(x, n, depth); err != nil {
				return nil, err
			}
		case Member:
			x.At, x.Args = p.column(p.token.at), []*Node{n}
			if p.token.kind == '(' && p.language == "go" {
				if err := p.assertion(x); err != nil {
					return nil, err
				}
				break
			}
			if p.token.kind == '0' && p.isType != nil { // of a tuple of Rust
				x.Text = p.token.text
				if err := p.advance(); err != nil {
					return nil, err
				}
				break
			}
			if err := p.name(x); err != nil {
				return nil, err
			}
		}
		n = x
	}
}

// fields reads members that are numbers, as tuples of Rust have them: ".0" and ".0.1" look like
// numbers.
func (p *parser) fields(n *Node, depth int) (*Node, error) {
	for i, text := range strings.Split(p.token.text[1:], ".") {
		x, err := p.node(Member, p.token.at+i)
		if err != nil {
			return nil, err
		}
		if err := p.chained(); err != nil {
			return nil, err
		}
		x.Text, x.Args = text, []*Node{n}
		n = x
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return p.postfix(n, depth)
}

// sizeOf reads sizeof and its operand, an expression or a type in parentheses.
func (p *parser) sizeOf(depth int) (*Node, error) {
	n, err := p.node(SizeOf, p.token.at)
	if err == nil {
		err = p.advance()
	}
	if err != nil {
		return nil, err
	}
	if p.token.kind == '(' {
		back, token := p.scanner.at, p.token
		if err := p.advance(); err != nil {
			return nil, err
		}
		t, err := p.typeInside(')')
		if err != nil {
			return nil, err
		}
		if t != nil && (p.isType != nil || t.own) {
			n.Type = t
			return n, nil
		}
		p.scanner.at, p.token = back, token
	}
	arg, err := p.unary(depth + 1)
	n.Args = []*Node{arg}
	return n, err
}

// atAddress reads {type} and the address of an object of the type. If there is no type, it takes
// nothing, and returns nil.
func (p *parser) atAddress(depth int) (*Node, error) {
	at, back, token := p.token.at, p.at, p.token
	if err := p.advance(); err != nil {
		return nil, err
	}
	t, err := p.typeInside('}')
	if err != nil {
		return nil, err
	}
	if t == nil {
		p.at, p.token = back, token
		return nil, nil
	}
	n, err := p.with(At, at, depth)
	if err == nil {
		n.Type = t
	}
	return n, err
}
