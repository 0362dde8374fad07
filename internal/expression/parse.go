package expression

import (
	"strings"
	"unicode/utf8"
)

// Bounds of an expression. Nobody writes so much by hand.
const (
	maxText  = 1 << 20 // bytes
	maxDepth = 100     // parentheses, casts, signs
	maxNodes = 1 << 16
)

// Parse reads an expression. Without knowing which names are types, it takes "(name) operand" for a
// cast. An error is an [*Error].
func Parse(text string) (*Node, error) { return (&parser{scanner: scanner{text: text}}).parse() }

// Scope says what a parser must know of names and of the language.
type Scope struct {
	// IsType says which names are types, so that (name) - 1 and (type) - 1 are told apart. Such a
	// name may have template arguments: "Box<int>".
	IsType func(name string) bool
	// IsValue says which names with template arguments are functions or variables; nil for none.
	IsValue func(name string) bool
	// IsVariable says which names are variables, even if they are words of C's types; nil for none.
	IsVariable func(name string) bool
	// Language is the expression's, by GDB's name: "c++", "rust" and "go" have forms of their own,
	// all others C's.
	Language string
}

// ParseWith is Parse in a scope: it reads all forms that --print has.
func ParseWith(text string, in Scope) (*Node, error) {
	p := &parser{scanner: scanner{text: text}, isType: in.IsType, isValue: in.IsValue, isVariable: in.IsVariable, language: in.Language}
	return p.parse()
}

// Guess reads a text whose language and names are not known: as C if it is C, else as the first of
// the other languages. The error says what is wrong with it as C.
func Guess(text string) (*Node, error) {
	n, err := Parse(text)
	for _, language := range []string{"c", "c++", "rust", "go", "fortran"} {
		if err == nil {
			break
		}
		in := Scope{IsType: func(string) bool { return false }, Language: language}
		if other, wrong := ParseWith(text, in); wrong == nil {
			return other, nil
		}
	}
	return n, err
}

func (p *parser) parse() (*Node, error) {
	text := p.text
	if len(text) > maxText {
		return nil, &Error{Text: text[:64] + "…", Column: 1, What: "an expression of more than 1 MiB"}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.sequence(0)
	if err == nil && (p.token.kind == '=' || p.isType != nil && p.token.kind == 'c' && strings.HasPrefix(p.text[p.at:], "=")) {
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
	token      token // the next one
	nodes      int
	operators  int
	isVariable func(name string) bool
	isType     func(name string) bool // nil if it is not known which names are types
	isValue    func(name string) bool
	language   string
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
	kind, ok := kinds[p.token.kind]
	if word, found := words1[p.token.text]; found && p.spelled() {
		kind, ok = word, true
	}
	switch {
	case ok:
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.with(kind, at, depth)
	case p.token.kind == '+' && p.isType != nil:
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.with(Positive, at, depth)
	case p.token.kind == '+':
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.unary(depth + 1)
	case p.token.kind == 'n' && p.token.text == "sizeof":
		return p.sizeOf(depth)
	case p.isType != nil && p.token.kind == 'n' && (p.token.text == "alignof" || p.token.text == "_Alignof"):
		return p.alignOf()
	case p.token.kind == '{' && p.isType != nil:
		if n, err := p.atAddress(depth); n != nil || err != nil {
			return n, err
		}
	case p.token.kind == '(' && p.isType != nil && strings.HasPrefix(p.text[p.token.at:], anonymous+"::"):
	case p.token.kind == '(':
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.language == "go" {
			if n, err := p.conversion(at, depth); n != nil || err != nil {
				return n, err
			}
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
		n, err := p.sequence(depth + 1)
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
	if p.isType != nil {
		if n, err := p.typed(depth); n != nil || err != nil {
			return n, err
		}
	}
	prefix, err := p.prefixed()
	if err != nil {
		return nil, err
	}
	t.kind, t.text = p.token.kind, p.token.text
	switch t.kind {
	case 0:
		return nil, p.fail(t.at, "an expression is missing")
	case '0', '"', '\'', 'n':
	case ':', '(':
		if t.kind == '(' && !strings.HasPrefix(p.text[t.at:], anonymous+"::") {
			return nil, p.fail(t.at, "an expression is missing")
		}
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
		if c, size := utf8.DecodeRuneInString(t.text); prefix != "" && size == len(t.text) && size > 0 {
			n.Kind, n.Int, n.Suffix = Char, uint64(c), prefix
			break
		}
		if len(t.text) > 1 && p.isType != nil { // a name that GDB has in quotes
			return n, p.quotedName(n)
		}
		if len(t.text) != 1 {
			return nil, p.fail(t.at, "a character constant of other than one byte")
		}
		n.Kind, n.Int = Char, uint64(int64(int8(t.text[0])))
	case '"':
		n.Kind, n.Suffix = String, prefix
		for p.token.kind == '"' { // strings that follow one another are one
			n.Text += p.token.text
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		_, err := p.packageName(n, n.Text)
		return n, err
	default:
		return n, p.name(n)
	}
	return n, p.advance()
}
