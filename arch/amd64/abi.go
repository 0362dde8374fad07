package amd64

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/trad"
)

// Registers that hold arguments and results alone. XMM1 to XMM15 follow XMM0; the YMM and ZMM
// registers have the same numbers. ST0 is the top of the x87's stack.
const (
	XMM0 trad.Reg = 17
	ST0  trad.Reg = 33
	ST1  trad.Reg = 34
)

// systemV is the calling convention of the System V ABI, AMD64 supplement, 3.2.3.
type systemV struct{}

var argumentRegisters = [...]trad.Reg{RDI, RSI, RDX, RCX, R8, R9}

const vectorArguments = 8 // XMM0 to XMM7

// arguments is how far the registers and the stack are filled.
type arguments struct {
	call     abi.Call
	stack    *abi.Stack
	integers int // how many of argumentRegisters are taken
	vectors  int // how many vector registers are taken
}

func (systemV) PushDummyCall(f *abi.Func, args []abi.Value, sp, ret uint64) (*abi.Call, error) {
	result, err := f.CheckResult()
	if err != nil {
		return nil, err
	}
	args, err = f.Arguments(args, binary.LittleEndian)
	if err != nil {
		return nil, err
	}
	a := &arguments{stack: abi.NewStack(sp-min(sp, uint64(Arch.RedZone)), uint64(Arch.StackAlign))}
	if classify(result, f.VectorBytes).inMemory() {
		a.call.Result = a.stack.Reserve(result.Size, max(16, result.Alignment()))
		a.integer(a.call.Result)
	}
	for i, arg := range args {
		a.pass(arg, classify(arg.Type, f.VectorBytes), i < len(f.Params))
	}
	if f.Variadic || f.Unprototyped {
		a.write(RAX, wordBytes(uint64(a.vectors)))
	}
	a.call.SP, a.call.Stack, err = a.stack.Finish(wordBytes(ret))
	if err != nil {
		return nil, err
	}
	a.write(RSP, wordBytes(a.call.SP))
	return &a.call, nil
}

func wordBytes(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func (a *arguments) write(r trad.Reg, b []byte) {
	a.call.Registers = append(a.call.Registers, abi.Register{Reg: r, Bytes: b})
}

func (a *arguments) integer(v uint64) {
	a.write(argumentRegisters[a.integers], wordBytes(v))
	a.integers++
}

// pass puts an argument where its classes say; named says that it has a declared parameter.
func (a *arguments) pass(arg abi.Value, c classes, named bool) {
	if arg.Type.ByReference {
		pointer := a.stack.Copy(arg.Bytes, max(8, arg.Type.Alignment()))
		arg, c = abi.Value{Type: &abi.Type{Kind: abi.Pointer, Size: 8}, Bytes: wordBytes(pointer)}, classes{eightbytes: 1, class: [8]class{integer}}
	}
	if arg.Type.Size == 0 || c.none() {
		return
	}
	integers, vectors := c.count(integer), c.count(sse)
	onStack := c.inMemory() || c.class[0] == x87 || c.class[0] == complexX87 ||
		a.integers+integers > len(argumentRegisters) || a.vectors+vectors > vectorArguments ||
		!named && c.eightbytes > 2 // 3.5.7: __m256 and __m512
	if onStack {
		b := arg.Bytes
		if arg.Type.Kind == abi.Integer && len(b) < 8 {
			b = wordBytes(arg.Word(binary.LittleEndian))
		}
		align := arg.Type.Alignment()
		if !arg.Type.Composite() {
			align = arg.Type.NaturalAlignment()
		}
		a.stack.Push(b, max(8, align))
		return
	}
	for i, part := range c.registers {
		b := arg.Bytes[8*i : min(8*(i+part.eightbytes), len(arg.Bytes))]
		switch {
		case part.class == sse:
			a.write(XMM0+trad.Reg(a.vectors), b)
			a.vectors++
		case len(arg.Bytes) <= 8:
			a.integer(arg.Word(binary.LittleEndian))
		default:
			a.integer(abi.Value{Type: &abi.Type{}, Bytes: b}.Word(binary.LittleEndian))
		}
	}
}

func (systemV) ReturnValue(f *abi.Func) (*abi.Return, error) {
	result, err := f.CheckResult()
	if err != nil {
		return nil, err
	}
	c := classify(result, f.VectorBytes)
	r := &abi.Return{Size: result.Size}
	if c.inMemory() {
		r.Memory, r.HasAddress, r.Address = true, true, RAX
		return r, nil
	}
	integers, vectors := []trad.Reg{RAX, RDX}, []trad.Reg{XMM0, XMM0 + 1}
	add := func(reg trad.Reg, at, size int) {
		r.Pieces = append(r.Pieces, abi.Piece{Reg: reg, Offset: at, Size: min(size, int(result.Size)-at)})
	}
	for i, part := range c.registers {
		switch part.class {
		case integer:
			add(integers[0], 8*i, 8)
			integers = integers[1:]
		case sse:
			add(vectors[0], 8*i, 8*part.eightbytes)
			vectors = vectors[1:]
		case x87:
			add(ST0, 0, x87Bytes)
		case complexX87:
			add(ST0, 0, x87Bytes)
			add(ST1, 16, x87Bytes)
		}
	}
	return r, nil
}

const x87Bytes = 10 // of the x87's number, in memory as in a register
