package expression

import "strings"

// anonymous stands for a namespace without a name.
const anonymous = "(anonymous namespace)"

// name reads a name, which may be qualified.
func (p *parser) name(n *Node) error {
	if p.token.kind == ':' {
		n.Text = "::"
		if err := p.advance(); err != nil {
			return err
		}
	}
	for {
		text, err := p.part(n.Text)
		if err != nil {
			return err
		}
		if text == "" {
			return p.fail(p.token.at, "a name is missing")
		}
		n.Text += text
		if p.token.kind != ':' {
			if p.isType == nil || n.Kind == Member {
				n.Text = strings.TrimPrefix(n.Text, "::")
			}
			return nil
		}
		n.Text += "::"
		if err := p.advance(); err != nil {
			return err
		}
	}
}

// part reads one part of a qualified name, behind those before it. It returns "" if there is none.
func (p *parser) part(before string) (text string, err error) {
	if p.token.kind == '~' && p.isType != nil { // of a destructor
		if err := p.advance(); err != nil {
			return "", err
		}
		text = "~"
	}
	if p.token.kind == '(' && p.isType != nil && strings.HasPrefix(p.text[p.token.at:], anonymous) {
		text, p.at = anonymous, p.token.at+len(anonymous)
		return text, p.advance()
	}
	if p.token.kind != 'n' {
		return "", nil
	}
	text += p.token.text
	if err := p.advance(); err != nil {
		return "", err
	}
	if p.token.kind == '<' && p.isType != nil {
		if args, end := templateArguments(p.text[p.token.at:]); end > 0 {
			whole := text + args
			if name := strings.TrimPrefix(before+whole, "::"); p.isType(name) || p.isValue != nil && p.isValue(name) || strings.HasPrefix(p.text[p.token.at+end:], "::") {
				p.at = p.token.at + end
				return whole, p.advance()
			}
		}
	}
	return text, nil
}

// maxTemplate bounds the length of template arguments in bytes.
const maxTemplate = 1 << 12

// templateArguments returns the template arguments that a text begins with, as compilers spell
// them, and where they end; 0 if there are none.
func templateArguments(text string) (args string, end int) {
	depth, round := 0, 0
	var b strings.Builder
	for i := range min(len(text), maxTemplate) {
		c := text[i]
		switch {
		case c == '<':
			depth++
		case c == '(':
			round++
		case c == ')':
			if round--; round < 0 {
				return "", 0
			}
		case c == '>' && round == 0:
			if strings.HasSuffix(b.String(), ">") {
				b.WriteByte(' ')
			}
			if depth--; depth == 0 {
				return b.String() + ">", i + 1
			}
		case c == ' ':
			if next := i + 1; next == len(text) || !isWord(text[next]) || !endsInWord(b.String()) {
				continue
			}
		case c == ',':
			b.WriteString(", ")
			continue
		case !isWord(c) && c != '*' && c != '&' && c != ':' && c != '-' && c != '[' && c != ']':
			return "", 0
		}
		b.WriteByte(c)
	}
	return "", 0
}

func isWord(c byte) bool { return c == '_' || alphanumeric(c) || c >= 0x80 }

func endsInWord(s string) bool { return s != "" && (isWord(s[len(s)-1]) || s[len(s)-1] == '>') }

// quotedName reads a name in single quotes, or GDB's 'file.c'::name.
func (p *parser) quotedName(n *Node) error {
	text := p.token.text
	if err := p.advance(); err != nil {
		return err
	}
	if p.token.kind != ':' {
		return p.prototype(n, text)
	}
	if err := p.advance(); err != nil {
		return err
	}
	n.File = text
	return p.name(n)
}
