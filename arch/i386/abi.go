package i386

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/trad"
)

// MM0 is the first of the MMX registers.
const MM0 trad.Reg = 29

// systemV is the calling convention of the System V ABI, Intel386 supplement, as gcc and clang have
// it on Linux: arguments are on the stack, but for vectors that the processor has registers for.
type systemV struct{}

const (
	slot            = 4  // bytes of a slot on the stack
	vectorAlign     = 16 // bytes; what is aligned to less is aligned to a slot
	vectorArguments = 3  // xmm0 to xmm2, or mm0 to mm2
	mostInRegisters = 8  // bytes of a result in eax and edx
	x87Bytes        = 10 // of the x87's number, in memory as in a register
)

func (systemV) PushDummyCall(f *abi.Func, args []abi.Value, sp, ret uint64) (*abi.Call, error) {
	result, err := f.CheckResult()
	if err != nil {
		return nil, err
	}
	args, err = f.Arguments(args, binary.LittleEndian)
	if err != nil {
		return nil, err
	}
	call := &abi.Call{}
	stack := abi.NewStackOf(sp, uint64(Arch.StackAlign), slot)
	if inMemory(result, f.VectorBytes) {
		call.Result = stack.Reserve(result.Size, max(vectorAlign, result.Alignment()))
		stack.Push(wordBytes(call.Result), slot)
		call.Popped = slot
	}
	vectors, inMM := 0, 0
	for _, arg := range args {
		if arg.Type.ByReference {
			pointer := stack.Copy(arg.Bytes, max(slot, arg.Type.Alignment()))
			arg = abi.Value{Type: &abi.Type{Kind: abi.Pointer, Size: slot}, Bytes: wordBytes(pointer)}
		}
		taken := !f.Variadic && inRegister(arg.Type, f.VectorBytes)
		switch {
		case taken && arg.Type.Size == 8 && inMM < vectorArguments:
			call.Registers = append(call.Registers, abi.Register{Reg: MM0 + trad.Reg(inMM), Bytes: arg.Bytes})
			inMM++
		case taken && arg.Type.Size > 8 && vectors < vectorArguments:
			call.Registers = append(call.Registers, abi.Register{Reg: XMM0 + trad.Reg(vectors), Bytes: arg.Bytes})
			vectors++
		default:
			stack.Push(onStack(arg), argumentAlign(arg.Type))
		}
	}
	call.SP, call.Stack, err = stack.Finish(wordBytes(ret))
	if err != nil {
		return nil, err
	}
	call.Registers = append(call.Registers, abi.Register{Reg: ESP, Bytes: wordBytes(call.SP)})
	return call, nil
}

// wordBytes returns the bytes of a word.
func wordBytes(v uint64) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }

// onStack returns what an argument has on the stack: a narrow integer is extended.
func onStack(arg abi.Value) []byte {
	if arg.Type.Kind == abi.Integer && len(arg.Bytes) < slot {
		return wordBytes(arg.Word(binary.LittleEndian))
	}
	return arg.Bytes
}

// argumentAlign returns the alignment of an argument on the stack, bytes.
func argumentAlign(t *abi.Type) uint64 {
	if align := t.Alignment(); align >= vectorAlign && aligned(t) {
		return align
	}
	return slot
}

// aligned reports whether a type has a scalar that is itself aligned to a vector's alignment: a
// struct that only its declaration aligns does not count.
func aligned(t *abi.Type) bool {
	for s := range t.Scalars {
		if s.BitSize == 0 && s.Type.Alignment() >= vectorAlign && s.Type.Kind != abi.X87 {
			return true
		}
	}
	return false
}

// inRegister reports whether a vector has a register in code that uses registers of vectorBytes
// bytes.
func inRegister(t *abi.Type, vectorBytes uint64) bool {
	return t.Kind == abi.Vector && t.Size >= 8 && t.Size <= vectorBytes
}

// inMemory reports whether a result is in memory, whose address the caller passes before all
// arguments, and the function takes off the stack when it returns.
func inMemory(t *abi.Type, vectorBytes uint64) bool {
	switch t.Kind {
	case abi.Void, abi.X87:
		return false
	case abi.Struct, abi.Union:
		return true
	case abi.Vector:
		return t.Size >= 8 && !inRegister(t, vectorBytes)
	}
	return t.Size > mostInRegisters
}

func (systemV) ReturnValue(f *abi.Func) (*abi.Return, error) {
	t, err := f.CheckResult()
	if err != nil {
		return nil, err
	}
	r := &abi.Return{Size: t.Size}
	size := int(t.Size)
	switch {
	case inMemory(t, f.VectorBytes):
		r.Memory, r.HasAddress, r.Address = true, true, EAX
	case t.Kind == abi.Vector && size == 8:
		r.Pieces = []abi.Piece{{Reg: MM0, Size: size}}
	case t.Kind == abi.Vector && size > 8:
		r.Pieces = []abi.Piece{{Reg: XMM0, Size: size}}
	case t.Kind == abi.X87:
		r.Pieces = []abi.Piece{{Reg: ST0, Size: x87Bytes}}
	case t.Kind == abi.Float && size >= 4:
		r.Pieces = []abi.Piece{{Reg: ST0, Size: size, FromX87: true}}
	case t.Kind == abi.Float:
		r.Pieces = []abi.Piece{{Reg: XMM0, Size: size}}
	default:
		if size > 0 {
			r.Pieces = []abi.Piece{{Reg: EAX, Size: min(size, slot)}}
		}
		if size > slot {
			r.Pieces = append(r.Pieces, abi.Piece{Reg: EDX, Offset: slot, Size: size - slot})
		}
	}
	return r, nil
}
