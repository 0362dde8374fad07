package calling

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/floats"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Show writes a value as GDB's call does; "" if there is none.
func (e *Evaluator) Show(v *Value) string {
	if v.Type == nil || v.Type.Kind == abi.Void {
		return ""
	}
	if v.isText {
		return quoteText([]byte(v.text), true)
	}
	if v.array != nil {
		return (&value.Printer{UTF8: true}).Print(v.array)
	}
	if v.of != nil {
		if f := e.shownIn(); f != nil {
			made := f.Made(v.of, v.Bytes)
			return (&value.Printer{UTF8: true}).Print(&made)
		}
	}
	s := &shower{order: e.Process.Arch().Order, memory: e.Process.Memory(), longDouble: e.Process.Arch().LongDouble}
	return s.show(v.dwarf, v.Type, v.Bytes)
}

// maxShown bounds the elements and the characters of a value that are shown, as gdb's print elements.
const maxShown = 200

// shower writes values as GDB does.
type shower struct {
	order      binary.ByteOrder
	memory     target.Memory
	longDouble abi.Kind // of C's long double
	depth      int
}

// show writes a value. Its type is t, or, if that is nil, what kind tells.
func (s *shower) show(t dwarf.Type, kind *abi.Type, b []byte) string {
	if s.depth++; s.depth > 32 {
		return "…"
	}
	defer func() { s.depth-- }()
	for {
		switch of := t.(type) {
		case *dwarf.TypedefType:
			t = of.Type
			continue
		case *dwarf.QualType:
			t = of.Type
			continue
		}
		break
	}
	switch of := t.(type) {
	case *dwarf.StructType:
		return s.structure(of, b)
	case *dwarf.ArrayType:
		return s.array(of, b)
	case *dwarf.EnumType:
		v := Value{Value: abi.Value{Type: &abi.Type{Kind: abi.Integer, Size: uint64(len(b)), Signed: true}, Bytes: b}}
		n, _ := v.integer(s.order)
		for _, e := range of.Val {
			if uint64(e.Val) == n || len(b) < 8 && (uint64(e.Val)^n)<<(64-8*len(b)) == 0 {
				return e.Name
			}
		}
		return strconv.FormatInt(int64(n), 10)
	case *dwarf.PtrType:
		return s.pointer(of.Type, b)
	case *dwarf.BoolType:
		kind = &abi.Type{Kind: abi.Integer, Size: uint64(len(b))}
		if len(b) == 1 && b[0] < 2 {
			return strconv.FormatBool(b[0] == 1)
		}
	case *dwarf.CharType:
		return s.character(&abi.Type{Kind: abi.Integer, Size: uint64(len(b)), Signed: true}, b)
	case *dwarf.UcharType:
		return s.character(&abi.Type{Kind: abi.Integer, Size: uint64(len(b))}, b)
	case *dwarf.IntType:
		kind = &abi.Type{Kind: abi.Integer, Size: uint64(len(b)), Signed: true}
	case *dwarf.UintType:
		kind = &abi.Type{Kind: abi.Integer, Size: uint64(len(b))}
	case *dwarf.FloatType:
		kind = &abi.Type{Kind: floatKind(s.longDouble, of.Name, uint64(len(b))), Size: uint64(len(b))}
	case *dwarf.ComplexType:
		if n := len(b) / 2; n > 0 {
			part := &abi.Type{Kind: floatKind(s.longDouble, of.Name, uint64(n)), Size: uint64(n)}
			return s.show(nil, part, b[:n]) + " + " + s.show(nil, part, b[n:]) + "i"
		}
	}
	if kind == nil {
		return fmt.Sprintf("%#x", b)
	}
	v := Value{Value: abi.Value{Type: kind, Bytes: b}}
	switch {
	case kind.Kind == abi.Pointer:
		n, _ := v.integer(s.order)
		return fmt.Sprintf("%#x", n)
	case kind.Kind == abi.Float && kind.Size == 4:
		f, _ := v.float(s.order)
		return showFloat(f, 9)
	case kind.Kind == abi.Float && kind.Size == 8:
		f, _ := v.float(s.order)
		return showFloat(f, 17)
	case kind.Kind == abi.X87 && len(b) >= x87Bytes:
		return floats.X87.Text(b[:x87Bytes])
	case kind.Kind == abi.Float && kind.Size == 16:
		return floats.Quad.Text(swapped(b, s.order))
	case kind.Kind == abi.Integer && kind.Size <= 8:
		n, _ := v.integer(s.order)
		if kind.Signed {
			return strconv.FormatInt(int64(n), 10)
		}
		return strconv.FormatUint(n, 10)
	}
	return fmt.Sprintf("%#x", b)
}

// showFloat writes a number as C's %g with some digits, as GDB does.
func showFloat(f float64, digits int) string {
	switch {
	case math.IsNaN(f):
		sign := ""
		if math.Signbit(f) {
			sign = "-"
		}
		return fmt.Sprintf("%snan(%#x)", sign, math.Float64bits(f)&(1<<52-1))
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	text := strconv.FormatFloat(f, 'g', digits, 64)
	mantissa, exponent, ok := strings.Cut(text, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	if ok {
		return mantissa + "e" + exponent
	}
	return mantissa
}

func (s *shower) character(kind *abi.Type, b []byte) string {
	v := Value{Value: abi.Value{Type: kind, Bytes: b}}
	n, _ := v.integer(s.order)
	number := strconv.FormatInt(int64(n), 10)
	if len(b) != 1 {
		return number
	}
	return number + " '" + quoteByte(b[0], '\'') + "'"
}

func quoteByte(c, quote byte) string {
	if i := strings.IndexByte("\a\b\f\n\r\t\v", c); i >= 0 {
		return "\\" + string("abfnrtv"[i])
	}
	switch {
	case c == quote || c == '\\':
		return "\\" + string(rune(c))
	case c < ' ' || c >= 0x7f:
		return fmt.Sprintf("\\%03o", c)
	}
	return string(rune(c))
}

// text writes a string up to its zero. whole says that b has its end even without one.
func quoteText(b []byte, whole bool) string {
	end, mark := len(b), "..."
	for i, c := range b {
		if c == 0 {
			end, mark = i, ""
			break
		}
	}
	if whole {
		mark = ""
	}
	if end > maxShown {
		end, mark = maxShown, "..."
	}
	var text strings.Builder
	for _, c := range b[:end] {
		text.WriteString(quoteByte(c, '"'))
	}
	return `"` + text.String() + `"` + mark
}

// pointer writes a pointer; one to characters with the text.
func (s *shower) pointer(to dwarf.Type, b []byte) string {
	v := Value{Value: abi.Value{Type: &abi.Type{Kind: abi.Pointer, Size: uint64(len(b))}, Bytes: b}}
	n, _ := v.integer(s.order)
	text := fmt.Sprintf("%#x", n)
	if n == 0 || !isChar(to) || s.memory == nil {
		return text
	}
	room := make([]byte, maxShown+1)
	if read, _ := s.memory.ReadMemory(n, room); read > 0 {
		return text + " " + quoteText(room[:read], false)
	}
	return text
}

func isChar(t dwarf.Type) bool {
	for {
		switch of := t.(type) {
		case *dwarf.TypedefType:
			t = of.Type
		case *dwarf.QualType:
			t = of.Type
		case *dwarf.CharType, *dwarf.UcharType:
			return true
		default:
			return false
		}
	}
}

func (s *shower) structure(t *dwarf.StructType, b []byte) string {
	var members []string
	for _, m := range t.Field {
		size := m.Type.Size()
		if m.ByteOffset < 0 || size < 0 || m.ByteOffset+size > int64(len(b)) || len(members) == maxShown {
			members = append(members, "…")
			break
		}
		part := b[m.ByteOffset : m.ByteOffset+size]
		text := ""
		if m.BitSize > 0 {
			text = s.bits(m, b)
		} else {
			text = s.show(m.Type, nil, part)
		}
		if m.Name != "" {
			text = m.Name + " = " + text
		}
		members = append(members, text)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// bits writes a bit-field.
func (s *shower) bits(m *dwarf.StructField, b []byte) string {
	at := m.DataBitOffset
	if at == 0 && m.BitOffset != 0 { // before DWARF 4: from the most significant bit of the storage
		at = 8*m.ByteOffset + m.BitOffset
		if s.order == binary.ByteOrder(binary.LittleEndian) {
			at = 8*m.ByteOffset + 8*m.ByteSize - m.BitOffset - m.BitSize
		}
	}
	var n uint64
	for i := range m.BitSize {
		k := at + i
		if k < 0 || k/8 >= int64(len(b)) {
			return "…"
		}
		if s.order == binary.ByteOrder(binary.LittleEndian) {
			n |= uint64(b[k/8]>>(k%8)&1) << i
		} else {
			n = n<<1 | uint64(b[k/8]>>(7-k%8)&1)
		}
	}
	size := max(m.Type.Size(), 1)
	if _, signed := under(m.Type).(*dwarf.IntType); signed {
		n = uint64(int64(n<<(64-m.BitSize)) >> (64 - m.BitSize))
	}
	return s.show(m.Type, nil, putInteger(n, uint64(min(size, 8)), s.order))
}

// under returns a type without typedefs and qualifiers.
func under(t dwarf.Type) dwarf.Type {
	for {
		switch of := t.(type) {
		case *dwarf.TypedefType:
			t = of.Type
		case *dwarf.QualType:
			t = of.Type
		default:
			return t
		}
	}
}

func (s *shower) array(t *dwarf.ArrayType, b []byte) string {
	if isChar(t.Type) {
		return quoteText(b, true)
	}
	size := t.Type.Size()
	if size <= 0 {
		return "{}"
	}
	var list []string
	for i := int64(0); i+size <= int64(len(b)); i += size {
		if len(list) == maxShown {
			return "{" + strings.Join(list, ", ") + "...}"
		}
		list = append(list, s.show(t.Type, nil, b[i:i+size]))
	}
	return "{" + strings.Join(list, ", ") + "}"
}
