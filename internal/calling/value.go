package calling

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/floats"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Value is the result of an expression.
type Value struct {
	abi.Value
	TypeName string     // as C writes it
	dwarf    dwarf.Type // nil if it is not known
	text     string     // of a string that is not in the process yet
	isText   bool
	elements []Value // of an array that is not in the process yet

	of         *value.Type  // as debug information has it; nil if it comes from elsewhere
	array      *value.Value // the array whose address this is; nil for other values
	at         uint64       // its address in the process, if hasAddress is set
	hasAddress bool
}

// Those of C's own types that are the same on all processors.
var (
	charType      = &abi.Type{Kind: abi.Integer, Size: 1, Signed: true}
	intType       = &abi.Type{Kind: abi.Integer, Size: 4, Signed: true}
	uintType      = &abi.Type{Kind: abi.Integer, Size: 4}
	longLongType  = &abi.Type{Kind: abi.Integer, Size: 8, Signed: true}
	ulongLongType = &abi.Type{Kind: abi.Integer, Size: 8}
	floatType     = &abi.Type{Kind: abi.Float, Size: 4}
	doubleType    = &abi.Type{Kind: abi.Float, Size: 8}
	voidType      = &abi.Type{Kind: abi.Void}
)

// byteOrder is a processor's order of bytes, which can append.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// integerValue makes a value of an integer or a pointer.
func integerValue(t *abi.Type, name string, v uint64, order binary.ByteOrder) Value {
	return Value{Value: abi.Value{Type: t, Bytes: putInteger(v, t.Size, order)}, TypeName: name}
}

func putInteger(v uint64, size uint64, order binary.ByteOrder) []byte {
	b := make([]byte, 16)
	if order == binary.ByteOrder(binary.BigEndian) {
		if int64(v) < 0 {
			binary.BigEndian.PutUint64(b, math.MaxUint64)
		}
		binary.BigEndian.PutUint64(b[8:], v)
		return b[16-size:]
	}
	binary.LittleEndian.PutUint64(b, v)
	if int64(v) < 0 {
		binary.LittleEndian.PutUint64(b[8:], math.MaxUint64)
	}
	return b[:size]
}

func floatValue(t *abi.Type, name string, v float64, order byteOrder) Value {
	var b []byte
	switch {
	case t.Kind == abi.X87:
		b = toX87(v)[:t.Size]
	case t.Size == 16:
		b = toQuad(v, order)
	case t.Size == 4:
		b = order.AppendUint32(nil, math.Float32bits(float32(v)))
	default:
		b = order.AppendUint64(nil, math.Float64bits(v))
	}
	return Value{Value: abi.Value{Type: t, Bytes: b}, TypeName: name}
}

// integer returns the value of an integer or a pointer of at most 8 bytes.
func (v *Value) integer(order binary.ByteOrder) (n uint64, ok bool) {
	if v.isText || v.elements != nil || v.Type.Kind != abi.Integer && v.Type.Kind != abi.Pointer || v.Type.Size > 8 {
		return 0, false
	}
	for i := range v.Bytes {
		b := v.Bytes[i]
		if order == binary.ByteOrder(binary.LittleEndian) {
			b = v.Bytes[len(v.Bytes)-1-i]
		}
		n = n<<8 | uint64(b)
	}
	if unused := 64 - 8*v.Type.Size; v.Type.Signed {
		n = uint64(int64(n<<unused) >> unused)
	}
	return n, true
}

// float returns the value of a floating-point number, as near as 64 bits come.
func (v *Value) float(order binary.ByteOrder) (f float64, ok bool) {
	if v.isText || v.elements != nil {
		return 0, false
	}
	if v.Type.Kind == abi.X87 && len(v.Bytes) >= 10 {
		return fromX87(v.Bytes), true
	}
	if v.Type.Kind != abi.Float {
		return 0, false
	}
	switch v.Type.Size {
	case 4:
		return float64(math.Float32frombits(order.Uint32(v.Bytes))), true
	case 8:
		return math.Float64frombits(order.Uint64(v.Bytes)), true
	case 16:
		return fromQuad(v.Bytes, order), true
	}
	return 0, false
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
		kind = &abi.Type{Kind: s.floatKind(of.Name, len(b)), Size: uint64(len(b))}
	case *dwarf.ComplexType:
		if n := len(b) / 2; n > 0 {
			part := &abi.Type{Kind: s.floatKind(of.Name, n), Size: uint64(n)}
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
		b = slices.Clone(b)
		if s.order == binary.ByteOrder(binary.BigEndian) {
			slices.Reverse(b)
		}
		return floats.Quad.Text(b)
	case kind.Kind == abi.Integer && kind.Size <= 8:
		n, _ := v.integer(s.order)
		if kind.Signed {
			return strconv.FormatInt(int64(n), 10)
		}
		return strconv.FormatUint(n, 10)
	}
	return fmt.Sprintf("%#x", b)
}

// x87Bytes is how many bytes of a long double of x86 count.
const x87Bytes = 10

// floatKind returns the kind of a floating-point number of n bytes.
func (s *shower) floatKind(name string, n int) abi.Kind {
	if n > 8 && !strings.Contains(name, "128") {
		return s.longDouble
	}
	return abi.Float
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
