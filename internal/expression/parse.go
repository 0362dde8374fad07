package expression

import (
	"slices"
	"strconv"
	"strings"
)

// Bounds of an expression. Nobody writes so much by hand.
const (
	maxText  = 1 << 20 // bytes
	maxDepth = 100     // parentheses, casts, signs
	maxNodes = 1 << 16
)

// Parse reads an expression. An error is an [*Error].
func Parse(text string) (*Node, error) {
	p := &parser{scanner: scanner{text: text}}
	if len(text) > maxText {
		return nil, &Error{text[:64] + "…", 1, "an expression of more than 1 MiB"}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.unary(0)
	if err == nil && p.token.kind != 0 {
		err = p.fail(p.token.at, "something behind the end of the expression")
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

type parser struct {
	scanner
	token token // the next one
	nodes int
}

func (p *parser) advance() (err error) {
	p.token, err = p.next()
	return err
}

func (p *parser) node(kind Kind, at int) (*Node, error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, p.fail(at, "too many parts of an expression")
	}
	return &Node{Kind: kind, At: p.column(at)}, nil
}

func (p *parser) column(at int) int { return p.fail(at, "").(*Error).Column }

// expect takes a token.
func (p *parser) expect(kind byte, what string) error {
	if p.token.kind != kind {
		return p.fail(p.token.at, what)
	}
	return p.advance()
}

// unary reads an expression with what stands before it.
func (p *parser) unary(depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, p.fail(p.token.at, "an expression that is nested too deep")
	}
	at := p.token.at
	kinds := map[byte]Kind{'-': Negative, '!': Not, '~': Complement, '&': Address}
	switch kind, ok := kinds[p.token.kind]; {
	case ok:
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.with(kind, at, depth)
	case p.token.kind == '+':
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.unary(depth + 1)
	case p.token.kind == '(':
		if err := p.advance(); err != nil {
			return nil, err
		}
		t, err := p.cast()
		if err != nil {
			return nil, err
		}
		if t != nil {
			n, err := p.with(Cast, at, depth)
			if err == nil {
				n.Type = t
			}
			return n, err
		}
		n, err := p.unary(depth + 1)
		if err == nil {
			err = p.expect(')', "a parenthesis is not closed")
		}
		if err != nil {
			return nil, err
		}
		return p.calls(n, depth)
	}
	n, err := p.primary(depth)
	if err != nil {
		return nil, err
	}
	return p.calls(n, depth)
}

// with reads the operand of a node.
func (p *parser) with(kind Kind, at, depth int) (*Node, error) {
	n, err := p.node(kind, at)
	if err != nil {
		return nil, err
	}
	arg, err := p.unary(depth + 1)
	n.Args = []*Node{arg}
	return n, err
}

// calls reads the arguments that follow a function.
func (p *parser) calls(n *Node, depth int) (*Node, error) {
	for p.token.kind == '(' {
		if depth++; depth > maxDepth {
			return nil, p.fail(p.token.at, "an expression that is nested too deep")
		}
		call, err := p.node(Call, p.token.at)
		if err != nil {
			return nil, err
		}
		call.At = n.At
		if err := p.advance(); err != nil {
			return nil, err
		}
		args, err := p.list(')', "an argument is missing", "the arguments are not closed", depth)
		if err != nil {
			return nil, err
		}
		call.Args = append([]*Node{n}, args...)
		n = call
	}
	return n, nil
}

// list reads expressions up to a closing character.
func (p *parser) list(closing byte, missing, open string, depth int) (list []*Node, err error) {
	if p.token.kind == closing {
		return nil, p.advance()
	}
	for {
		if p.token.kind == closing || p.token.kind == ',' {
			return nil, p.fail(p.token.at, missing)
		}
		n, err := p.unary(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		switch p.token.kind {
		case closing:
			return list, p.advance()
		case ',':
			if err := p.advance(); err != nil {
				return nil, err
			}
		default:
			return nil, p.fail(p.token.at, open)
		}
	}
}

func (p *parser) primary(depth int) (*Node, error) {
	t := p.token
	switch t.kind {
	case 0:
		return nil, p.fail(t.at, "an expression is missing")
	case '0', '"', '\'', 'n':
	case ':':
	case '{':
		n, err := p.node(Array, t.at)
		if err == nil {
			err = p.advance()
		}
		if err != nil {
			return nil, err
		}
		n.Args, err = p.list('}', "an element is missing", "the elements are not closed", depth)
		return n, err
	default:
		return nil, p.fail(t.at, "an expression is missing")
	}
	n, err := p.node(Name, t.at)
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case '0':
		if err := p.number(n, t); err != nil {
			return nil, err
		}
	case '\'':
		if len(t.text) != 1 {
			return nil, p.fail(t.at, "a character constant of other than one byte")
		}
		n.Kind, n.Int = Char, uint64(int64(int8(t.text[0])))
	case '"':
		n.Kind = String
		for p.token.kind == '"' { // strings that follow one another are one
			n.Text += p.token.text
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		return n, nil
	default:
		return n, p.name(n)
	}
	return n, p.advance()
}

// name reads a name, which may be qualified.
func (p *parser) name(n *Node) error {
	for {
		if p.token.kind == ':' {
			n.Text += "::"
			if err := p.advance(); err != nil {
				return err
			}
		}
		if p.token.kind != 'n' {
			return p.fail(p.token.at, "a name is missing")
		}
		n.Text += p.token.text
		if err := p.advance(); err != nil {
			return err
		}
		if p.token.kind != ':' {
			n.Text = strings.TrimPrefix(n.Text, "::")
			return nil
		}
	}
}

// number reads a number.
func (p *parser) number(n *Node, t token) error {
	text := strings.ToLower(t.text)
	hex := strings.HasPrefix(text, "0x")
	if strings.Contains(text, ".") || !hex && strings.Contains(text, "e") || hex && strings.Contains(text, "p") {
		n.Kind = Float
		if body, ok := strings.CutSuffix(text, "f"); ok && (!hex || strings.Contains(text, "p")) {
			text, n.Suffix = body, "f"
		} else if body, ok := strings.CutSuffix(text, "l"); ok {
			text, n.Suffix = body, "l"
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.Contains(text, "_") {
			return p.fail(t.at, "not a number")
		}
		n.Float = v
		return nil
	}
	n.Kind = Integer
	body := strings.TrimRight(text, "ul")
	n.Suffix = text[len(body):]
	if !slices.Contains([]string{"", "u", "l", "ul", "lu", "ll", "ull", "llu"}, n.Suffix) {
		return p.fail(t.at, "not a number")
	}
	base := 10
	switch {
	case hex:
		body, base = body[2:], 16
	case strings.HasPrefix(body, "0b"):
		body, base = body[2:], 2
	case len(body) > 1 && body[0] == '0':
		base = 8
	}
	v, err := strconv.ParseUint(body, base, 64)
	if err != nil {
		if numErr, ok := err.(*strconv.NumError); ok && numErr.Err == strconv.ErrRange {
			return p.fail(t.at, "a number of more than 64 bits")
		}
		return p.fail(t.at, "not a number")
	}
	n.Int = v
	return nil
}
