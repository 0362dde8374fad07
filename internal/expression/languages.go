package expression

import "strings"

// index reads an index or, in Go and Rust, the bounds of a slice, up to the closing bracket.
func (p *parser) index(x, of *Node, depth int) error {
	var between byte
	switch p.language {
	case "go":
		between = 'c'
	case "rust":
		between = 'D'
	}
	var i, end *Node
	var err error
	if between == 0 || p.token.kind != between {
		if i, err = p.conditional(depth + 1); err != nil {
			return err
		}
	}
	if x.Args = []*Node{of, i}; between != 0 && p.token.kind == between {
		x.Kind, x.Text = Slice, p.token.text
		if err := p.advance(); err != nil {
			return err
		}
		if between == 'D' && p.token.kind == '=' {
			x.Text = "..="
			if err := p.advance(); err != nil {
				return err
			}
		}
		if p.token.kind != ']' {
			if end, err = p.conditional(depth + 1); err != nil {
				return err
			}
		}
		x.Args = []*Node{of, i, end}
	}
	return p.expect(']', "an index is not closed")
}

// rustRange reads an expression of Rust, which may be a range: low..high, or low..=high.
func (p *parser) rustRange(depth int) (n *Node, err error) {
	var low, high *Node
	if p.token.kind != 'D' {
		if low, err = p.conditional(depth); err != nil || p.token.kind != 'D' {
			return low, err
		}
	}
	if n, err = p.node(Range, p.token.at); err != nil {
		return nil, err
	}
	n.Text = p.token.text
	if err = p.advance(); err != nil {
		return nil, err
	}
	if p.token.kind == '=' {
		n.Text = "..="
		if err = p.advance(); err != nil {
			return nil, err
		}
	}
	if ends := p.token.kind == 0 || strings.IndexByte("),]}", p.token.kind) >= 0; !ends || n.Text == "..=" {
		high, err = p.conditional(depth)
	}
	n.Args = []*Node{low, high}
	return n, err
}

// as reads the type of Rust's `operand as type`.
func (p *parser) as(n, operand *Node) (*Node, error) {
	from := p.token.at
	t, err := p.rustType()
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, p.fail(from, "a type is missing")
	}
	n.Kind, n.Type, n.Args = Cast, t, []*Node{operand}
	return n, nil
}

// rustType reads a type of Rust: a path with pointers and references before it.
func (p *parser) rustType() (*Type, error) {
	pointers := 0
	at := p.token.at
	for p.token.kind == '*' || p.token.kind == '&' {
		pointers++
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.token.kind == 'n' && (p.token.text == "const" || p.token.text == "mut") {
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
	}
	if p.token.kind != 'n' && p.token.kind != ':' {
		return nil, nil
	}
	n := &Node{}
	if err := p.name(n); err != nil {
		return nil, err
	}
	return p.pointersTo(&Type{At: p.column(at), Name: n.Text}, pointers)
}

// pointersTo makes a type of the one that has been read, with so many * before it.
func (p *parser) pointersTo(t *Type, pointers int) (*Type, error) {
	if pointers > maxDerived {
		return nil, p.fail(p.token.at, "a type that is nested too deep")
	}
	t.Pointers = pointers
	for range pointers {
		t.Derived = append(t.Derived, Derivation{Kind: '*'})
	}
	return t, nil
}

// goType reads a type of Go by its name, with * before it: "*main.T", `"a/b".T`, "map[string]int".
// It is nil if there is none.
func (p *parser) goType(closing byte) (*Type, error) {
	t := &Type{At: p.column(p.token.at)}
	pointers := 0
	for p.token.kind == '*' {
		pointers++
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	// Up to the closing parenthesis, the text is the name: composite types are known by their
	// names, too.
	from, depth := p.token.at, 0
	end := from
	for ; end < len(p.text); end++ {
		switch p.text[end] {
		case '(', '[', '{':
			depth++
		case ']', '}':
			depth--
		case ')':
			if depth--; depth < 0 {
				goto closed
			}
		}
	}
	return nil, nil
closed:
	if t.Name = strings.ReplaceAll(strings.TrimSpace(p.text[from:end]), `"`, ""); t.Name == "" {
		return nil, nil
	}
	p.at = end
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect(closing, "a parenthesis is not closed"); err != nil {
		return nil, err
	}
	return p.pointersTo(t, pointers)
}

// conversion reads (type)(operand), or (type) operand, of Go behind the first parenthesis. If there
// is no type, it takes nothing, and returns nil.
func (p *parser) conversion(at, depth int) (*Node, error) {
	back, token := p.at, p.token
	t, err := p.goType(')')
	if err != nil || t == nil || !p.isType(t.Name) {
		p.at, p.token = back, token
		return nil, nil
	}
	if p.token.kind != '(' {
		n, err := p.with(Cast, at, depth)
		if err == nil {
			n.Type = t
		}
		return n, err
	}
	n, err := p.node(Cast, at)
	if err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	operand, err := p.expression(depth + 1)
	if err == nil {
		err = p.expect(')', "a parenthesis is not closed")
	}
	if err != nil {
		return nil, err
	}
	n.Type, n.Args = t, []*Node{operand}
	return p.postfix(n, depth)
}

// assertion reads the type, or "data", of Go's operand.(type), with the parentheses.
func (p *parser) assertion(n *Node) error {
	n.Kind = Assert
	if err := p.advance(); err != nil {
		return err
	}
	at := p.token.at
	t, err := p.goType(')')
	if err == nil && t == nil {
		err = p.fail(at, "a type is missing")
	}
	n.Type = t
	return err
}

// packageName reads `"path/of/package".Name` of Go behind its string. If no point follows, it takes
// nothing.
func (p *parser) packageName(n *Node, path string) (ok bool, err error) {
	if p.language != "go" || p.token.kind != '.' {
		return false, nil
	}
	if err := p.advance(); err != nil {
		return false, err
	}
	if p.token.kind != 'n' {
		return false, p.fail(p.token.at, "a name is missing")
	}
	n.Kind, n.Text = Name, path+"."+p.token.text
	return true, p.advance()
}
