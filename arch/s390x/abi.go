package s390x

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/trad"
)

// elfABI is the calling convention of the ELF ABI s390x supplement, 1.2.2 and 1.2.3.
type elfABI struct{}

var (
	generalArguments = [...]trad.Reg{R2, R3, R4, R5, R6}
	floatArguments   = [...]trad.Reg{F0, F2, F4, F6}
	// vectorArguments are v24, v26, v28, v30, v25, v27, v29, v31: the even numbers come first, as
	// DWARF has them.
	vectorArguments = [...]trad.Reg{V24, V24 + 1, V24 + 2, V24 + 3, V24 + 4, V24 + 5, V24 + 6, V24 + 7}
)

// V24 has the first vector of the arguments, and a result. V0 to V15 contain F0 to F15, and have no
// numbers of their own.
const V24 trad.Reg = 76

// arguments is how far the registers and the stack are filled.
type arguments struct {
	call                    abi.Call
	stack                   *abi.Stack
	general, float, vectors []trad.Reg // registers that are free
}

func (elfABI) PushDummyCall(f *abi.Func, args []abi.Value, sp, ret uint64) (*abi.Call, error) {
	result, err := f.CheckResult()
	if err != nil {
		return nil, err
	}
	args, err = f.Arguments(args, binary.BigEndian)
	if err != nil {
		return nil, err
	}
	a := &arguments{
		stack:   abi.NewStack(sp, uint64(Arch.StackAlign)),
		general: generalArguments[:], float: floatArguments[:], vectors: vectorArguments[:],
	}
	if resultInMemory(result, f.VectorBytes) {
		a.call.Result = a.stack.Reserve(result.Size, max(8, result.Alignment()))
		a.word(a.call.Result)
	}
	for i, arg := range args {
		a.pass(arg, f.VectorBytes, i < len(f.Params))
	}
	a.write(R14, 0, wordBytes(ret))
	// The function's save area, inmost the back chain.
	a.call.SP, a.call.Stack, err = a.stack.Finish(append(wordBytes(sp), make([]byte, saveArea-8)...))
	if err != nil {
		return nil, err
	}
	a.write(R15, 0, wordBytes(a.call.SP))
	return &a.call, nil
}

func wordBytes(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

func (a *arguments) write(r trad.Reg, offset int, b []byte) {
	a.call.Registers = append(a.call.Registers, abi.Register{Reg: r, Offset: offset, Bytes: b})
}

// take returns a free register, if there is one.
func take(free *[]trad.Reg) (r trad.Reg, ok bool) {
	if len(*free) == 0 {
		return 0, false
	}
	r, *free = (*free)[0], (*free)[1:]
	return r, true
}

// word passes what a general register has.
func (a *arguments) word(v uint64) {
	if r, ok := take(&a.general); ok {
		a.write(r, 0, wordBytes(v))
		return
	}
	a.stack.Push(wordBytes(v), 8)
}

// pass puts an argument in its place; named says that it has a declared parameter.
func (a *arguments) pass(arg abi.Value, vectorBytes uint64, named bool) {
	t := arg.Type
	inner := single(t)
	switch {
	case t.ByReference:
		a.reference(arg)
	case inner.Kind == abi.Vector && t.Size <= min(16, vectorBytes):
		if named {
			if r, ok := take(&a.vectors); ok {
				a.write(r, 0, arg.Bytes)
				return
			}
		}
		a.stack.Push(arg.Bytes, 8)
	case inner.Kind == abi.Float && t.Size <= 8:
		// A register has a float in its left half, a slot on the stack in its right.
		if r, ok := take(&a.float); ok {
			a.write(r, 0, arg.Bytes)
			return
		}
		a.stack.Push(wordBytes(arg.Word(binary.BigEndian)), 8)
	case inWord(t):
		a.word(arg.Word(binary.BigEndian))
	default:
		a.reference(arg)
	}
}

// reference passes the address of a copy.
func (a *arguments) reference(arg abi.Value) {
	a.word(a.stack.Copy(arg.Bytes, max(8, arg.Type.Alignment())))
}

// inWord reports whether a general register has an argument.
func inWord(t *abi.Type) bool {
	switch t.Kind {
	case abi.Integer, abi.Pointer:
		return t.Size <= 8
	case abi.Struct, abi.Union:
		return t.Size == 1 || t.Size == 2 || t.Size == 4 || t.Size == 8
	}
	return false
}

// single returns the type of the only member of a struct that has but one, and of that type in
// turn; t itself if it is no such struct. An empty base class, which the member overlaps, does not
// count.
func single(t *abi.Type) *abi.Type {
	inner := t
	for inner.Kind == abi.Struct {
		var only *abi.Member
		for i := range inner.Members {
			m := &inner.Members[i]
			if m.Offset == 0 && m.Type.Composite() && m.Type.Size == 1 && len(inner.Members) > 1 && m.Type.Empty() {
				continue
			}
			if only != nil || m.BitSize != 0 || m.Offset != 0 {
				return t
			}
			only = m
		}
		if only == nil {
			return t
		}
		inner = only.Type
	}
	return inner
}

// resultInMemory reports whether the caller passes the address for a result (1.2.3).
func resultInMemory(t *abi.Type, vectorBytes uint64) bool {
	switch t.Kind {
	case abi.Void:
		return false
	case abi.Integer, abi.Pointer, abi.Float:
		return t.Size > 8
	case abi.Vector:
		return t.Size > min(16, vectorBytes)
	}
	return true
}

func (elfABI) ReturnValue(f *abi.Func) (*abi.Return, error) {
	result, err := f.CheckResult()
	if err != nil {
		return nil, err
	}
	r := &abi.Return{Size: result.Size, Memory: resultInMemory(result, f.VectorBytes)}
	if r.Memory || result.Size == 0 {
		return r, nil
	}
	piece := abi.Piece{Reg: R2, RegOffset: 8 - int(min(8, result.Size)), Size: int(result.Size)}
	switch result.Kind {
	case abi.Float:
		piece.Reg, piece.RegOffset = F0, 0
	case abi.Vector:
		piece.Reg, piece.RegOffset = V24, 0
	}
	r.Pieces = []abi.Piece{piece}
	return r, nil
}
