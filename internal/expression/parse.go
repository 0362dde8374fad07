package expression

// Bounds of an expression. Nobody writes so much by hand.
const (
	maxText  = 1 << 20 // bytes
	maxDepth = 100     // parentheses, casts, signs
	maxNodes = 1 << 16
)

// Parse reads an expression. Without knowing which names are those of types, it takes "(name) operand" for a cast. An
// error is an [*Error].
func Parse(text string) (*Node, error) { return ParseWith(text, nil) }

// ParseWith is Parse with a function that says which names are those of types, so that (name) - 1 and (type) - 1 are told
// apart. Such a name may have template arguments: "Box<int>".
func ParseWith(text string, isType func(name string) bool) (*Node, error) {
	p := &parser{scanner: scanner{text: text}, isType: isType}
	if len(text) > maxText {
		return nil, &Error{Text: text[:64] + "…", Column: 1, What: "an expression of more than 1 MiB"}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.expression(0)
	if err == nil && p.token.kind == '=' {
		err = p.fail(p.token.at, "an expression cannot assign")
	}
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
	token     token // the next one
	nodes     int
	operators int
	isType    func(name string) bool // nil if it is not known which names are those of types
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

// unary reads an operand with what stands before it and behind it.
func (p *parser) unary(depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, p.fail(p.token.at, "an expression that is nested too deep")
	}
	at := p.token.at
	kinds := map[byte]Kind{'-': Negative, '!': Not, '~': Complement, '&': Address, '*': Deref}
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
	case p.token.kind == 'n' && p.token.text == "sizeof":
		return p.sizeOf(depth)
	case p.token.kind == '{' && p.isType != nil:
		return p.atAddress(depth)
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
		n, err := p.expression(depth + 1)
		if err == nil {
			err = p.expect(')', "a parenthesis is not closed")
		}
		if err != nil {
			return nil, err
		}
		return p.postfix(n, depth)
	}
	n, err := p.primary(depth)
	if err != nil {
		return nil, err
	}
	return p.postfix(n, depth)
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

// list reads expressions up to a closing character.
func (p *parser) list(closing byte, missing, open string, depth int) (list []*Node, err error) {
	if p.token.kind == closing {
		return nil, p.advance()
	}
	for {
		if p.token.kind == closing || p.token.kind == ',' {
			return nil, p.fail(p.token.at, missing)
		}
		n, err := p.expression(depth + 1)
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
		if len(t.text) > 1 && p.isType != nil { // a name that GDB has in quotes
			return n, p.quotedName(n)
		}
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
