package arm64

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/trad"
)

// V0 is the first vector register; V1 to V31 follow. D8 to D15 are the halves of V8 to V15.
const V0 trad.Reg = 64

// X8 has the address of a result in memory.
const X8 trad.Reg = 8

// aapcs64 is the Procedure Call Standard for the Arm 64-bit Architecture. The letters and numbers
// in the comments are its rules (6.8.2).
type aapcs64 struct{}

const argumentRegisters = 8 // x0 to x7, v0 to v7

// arguments is how far the registers and the stack are filled.
type arguments struct {
	call     abi.Call
	stack    *abi.Stack
	integers int // how many general registers are taken (NGRN)
	vectors  int // how many vector registers are taken (NSRN)
}

func (aapcs64) PushDummyCall(f *abi.Func, args []abi.Value, sp, ret uint64) (*abi.Call, error) {
	result, err := f.CheckResult()
	if err != nil {
		return nil, err
	}
	args, err = f.Arguments(args, binary.LittleEndian)
	if err != nil {
		return nil, err
	}
	a := &arguments{stack: abi.NewStack(sp, uint64(Arch.StackAlign))}
	if resultInMemory(result) {
		a.call.Result = a.stack.Reserve(result.Size, max(16, result.Alignment()))
		a.write(X8, wordBytes(a.call.Result))
	}
	for _, arg := range args {
		a.pass(arg)
	}
	a.write(X30, wordBytes(ret))
	a.call.SP, a.call.Stack, err = a.stack.Finish(nil)
	if err != nil {
		return nil, err
	}
	a.write(SP, wordBytes(a.call.SP))
	return &a.call, nil
}

func wordBytes(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func (a *arguments) write(r trad.Reg, b []byte) {
	a.call.Registers = append(a.call.Registers, abi.Register{Reg: r, Bytes: b})
}

// pass is stage C for one argument.
func (a *arguments) pass(arg abi.Value) {
	t := arg.Type
	if t.Size == 0 {
		return
	}
	n, elem := homogeneous(t)
	if n > 0 && !t.ByReference {
		if a.vectors+n <= argumentRegisters { // C.1, C.2
			for i := range n {
				a.write(V0+trad.Reg(a.vectors), arg.Bytes[i*elem:][:elem])
				a.vectors++
			}
			return
		}
		a.vectors = argumentRegisters // C.3
		a.push(arg)
		return
	}
	if byReference(t) { // B.4
		addr := a.stack.Copy(arg.Bytes, max(8, t.Alignment()))
		arg = abi.Value{Type: &abi.Type{Kind: abi.Pointer, Size: 8}, Bytes: wordBytes(addr)}
		t = arg.Type
	}
	if t.NaturalAlignment() >= 16 { // C.10
		a.integers += a.integers & 1
	}
	if words := int(t.Size+7) / 8; a.integers+words <= argumentRegisters { // C.9, C.11, C.12
		for b := arg.Bytes; len(b) > 0; b = b[min(8, len(b)):] {
			part := abi.Value{Type: t, Bytes: b[:min(8, len(b))]}
			a.write(X0+trad.Reg(a.integers), wordBytes(part.Word(binary.LittleEndian)))
			a.integers++
		}
		return
	}
	a.integers = argumentRegisters // C.13
	a.push(arg)
}

// push puts an argument on the stack, at a multiple of 8 or 16 (C.4, C.14).
func (a *arguments) push(arg abi.Value) {
	align := uint64(8)
	if arg.Type.NaturalAlignment() >= 16 {
		align = 16
	}
	b := arg.Bytes
	if arg.Type.Kind == abi.Integer && len(b) < 8 {
		b = wordBytes(arg.Word(binary.LittleEndian))
	}
	a.stack.Push(b, align)
}

// byReference reports whether the caller passes the address of a copy.
func byReference(t *abi.Type) bool {
	n, _ := homogeneous(t)
	return t.ByReference || t.Size > 16 && n == 0
}

// resultInMemory reports whether the caller passes the address for a result (6.9).
func resultInMemory(t *abi.Type) bool { return byReference(t) }

func (aapcs64) ReturnValue(f *abi.Func) (*abi.Return, error) {
	result, err := f.CheckResult()
	if err != nil {
		return nil, err
	}
	r := &abi.Return{Size: result.Size}
	if resultInMemory(result) {
		r.Memory = true
		return r, nil
	}
	first, size := X0, 8
	if n, elem := homogeneous(result); n > 0 {
		first, size = V0, elem
	}
	for at := 0; at < int(result.Size); at += size {
		r.Pieces = append(r.Pieces, abi.Piece{Reg: first + trad.Reg(at/size), Offset: at, Size: min(size, int(result.Size)-at)})
	}
	return r, nil
}

// homogeneous returns how many vector registers a floating-point number, a short vector, or a
// homogeneous aggregate of one to four of them takes, and the bytes of each (5.9.5); 0 for any
// other type.
func homogeneous(t *abi.Type) (n, size int) {
	if t.Size == 0 {
		return 0, 0
	}
	var base abi.Type
	if n = elements(t, &base); n < 1 || n > 4 {
		return 0, 0
	}
	return n, int(base.Size)
}

// elements returns how many of base, of one type or short vectors of one size, t is made of; -1 if
// there is anything else, or padding. The first element makes the base.
func elements(t, base *abi.Type) (n int) {
	switch t.Kind {
	case abi.Float, abi.Vector:
		if t.Kind == abi.Vector && t.Size != 8 && t.Size != 16 {
			return -1
		}
		if base.Kind == abi.Void {
			*base = *t
		}
		if base.Kind != t.Kind || base.Size != t.Size {
			return -1
		}
		return 1
	case abi.Complex:
		n = 2 * elements(t.Elem, base)
	case abi.Array:
		if n = elements(t.Elem, base); t.Flexible || n < 0 {
			return -1
		}
		n *= int(t.Count)
	case abi.Struct, abi.Union:
		for _, m := range t.Members {
			part := elements(m.Type, base)
			switch {
			case m.BitSize != 0:
				return -1
			case part < 0 && t.Kind == abi.Struct && m.Type.Size == 1 && m.Type.Empty():
				// An empty base class takes no room; if an empty member does, it is padding.
			case part < 0:
				return -1
			case t.Kind == abi.Union:
				n = max(n, part)
			default:
				n += part
			}
		}
	default:
		return -1
	}
	if n < 0 || uint64(n)*base.Size != t.Size {
		return -1
	}
	return n
}
