package value

import (
	"unicode/utf16"
	"unicode/utf8"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	syntax "github.com/sfwalk/sfwalk/internal/expression"
)

// characterType returns the type of a character constant with a prefix (C11, 6.4.4.4).
func (r *Reader) characterType(prefix string) *Type {
	name, size := "char", uint64(1)
	switch prefix {
	case "L":
		name, size = "wchar_t", 4
	case "u":
		name, size = "char16_t", 2
	case "U":
		name, size = "char32_t", 4
	default:
		return r.basic(name)
	}
	return &Type{Kind: Char, Name: name, Size: size, Encoding: dwarfdata.ATEUTF, Order: r.order(), r: r, elemRead: true, Signed: prefix == "L"}
}

// stringConstant returns a string with a prefix.
func (e *evaluation) stringConstant(n *syntax.Node) Value {
	t := e.r.characterType(n.Suffix)
	var b []byte
	order := e.r.order()
	switch t.Size {
	case 2:
		for _, c := range append(utf16.Encode([]rune(n.Text)), 0) {
			b = append(b, 0, 0)
			order.PutUint16(b[len(b)-2:], c)
		}
	case 4:
		for s := n.Text; s != ""; {
			c, size := utf8.DecodeRuneInString(s)
			b, s = append(b, 0, 0, 0, 0), s[size:]
			order.PutUint32(b[len(b)-4:], uint32(c))
		}
		b = append(b, 0, 0, 0, 0)
	default:
		b = append([]byte(n.Text), 0)
	}
	return Value{Type: e.r.arrayOf(t, uint64(len(b))/t.Size), bytes: b, read: true, frame: e.c, mem: e.c.mem}
}
