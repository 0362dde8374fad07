package inferior

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Result returns the result of a function of type fn, whose frame has just returned: call it after
// a run has ended with [Returned]. The error says that the result is in memory whose address is not
// known: on arm64 and s390x, it is known only if the last run has begun at the function's first
// instruction.
func (r *Runner) Result(fn *abi.Func) ([]byte, error) {
	a := r.process.Arch()
	where, err := a.Calls.ReturnValue(fn)
	if err != nil {
		return nil, err
	}
	if !where.Memory {
		return where.Bytes(r.thread.ReadRegister)
	}
	addr, known := uint64(0), false
	if where.HasAddress {
		addr, err = r.register(where.Address)
		known = err == nil
	} else if reg, ok := resultArgument(a, fn); ok {
		addr, known = r.atEntry.Get(reg)
	}
	if !known {
		return nil, errors.New("the result is in memory, and its address is not known any more")
	}
	value := make([]byte, where.Size)
	_, err = r.process.Memory().ReadMemory(addr, value)
	return value, err
}

// noteEntry keeps the registers if f is a function that has just been called: its arguments are
// there.
func (r *Runner) noteEntry(f *frame.Frame) {
	r.atEntry = arch.Registers{}
	if entry, ok := f.Function(); ok && f.Level == 0 && entry == f.PC() {
		if r.thread.Registers(&r.atEntry) != nil {
			r.atEntry = arch.Registers{}
		}
	}
}

// resultArgument returns the register that a caller passes the address of the result in.
func resultArgument(a *arch.Arch, fn *abi.Func) (r trad.Reg, ok bool) {
	f := &abi.Func{Result: fn.Result, Params: fn.Params, VectorBytes: fn.VectorBytes}
	var args []abi.Value
	for _, p := range fn.Params {
		args = append(args, abi.Value{Type: p, Bytes: make([]byte, p.Size)})
	}
	call, err := a.Calls.PushDummyCall(f, args, 1<<20, 0)
	if err != nil {
		return 0, false
	}
	return holder(a, call, call.Result)
}

// secondArgument returns the register that has the second argument of a function that takes two
// addresses.
func secondArgument(a *arch.Arch) (r trad.Reg, ok bool) {
	const second = 0x5a5a
	word := &abi.Type{Kind: abi.Pointer, Size: uint64(a.PtrSize)}
	args := []abi.Value{{Type: word, Bytes: make([]byte, a.PtrSize)}, {Type: word, Bytes: wordBytes(a, second)}}
	call, err := a.Calls.PushDummyCall(&abi.Func{Params: []*abi.Type{word, word}}, args, 1<<20, 0)
	if err != nil {
		return 0, false
	}
	return holder(a, call, second)
}

// holder returns the register to which a call writes a word.
func holder(a *arch.Arch, call *abi.Call, word uint64) (r trad.Reg, ok bool) {
	for _, r := range call.Registers {
		if bytes.Equal(r.Bytes, wordBytes(a, word)) {
			return r.Reg, true
		}
	}
	return 0, false
}

func wordBytes(a *arch.Arch, v uint64) []byte {
	return a.AppendWord(nil, v)
}

// resultRegisters says what to write where a function of type fn has returned value.
func resultRegisters(a *arch.Arch, fn *abi.Func, value []byte) (write []abi.Register, err error) {
	where, err := a.Calls.ReturnValue(fn)
	switch {
	case err != nil:
		return nil, err
	case uint64(len(value)) != where.Size:
		return nil, fmt.Errorf("the result has %d bytes, its type %d", len(value), where.Size)
	case where.Memory:
		return nil, errors.New("a result in memory cannot be given: its address is not known")
	}
	for _, p := range where.Pieces {
		write = append(write, abi.Register{Reg: p.Reg, Offset: p.RegOffset, Bytes: value[p.Offset : p.Offset+p.Size]})
	}
	// Callers on s390x take an integer as its function has extended it.
	if t := fn.Result; t.Kind == abi.Integer && t.Size < uint64(a.PtrSize) && len(write) == 1 {
		bits := uint64(0)
		for i, b := range value {
			if bigEndian(a) {
				i = len(value) - 1 - i
			}
			bits |= uint64(b) << (8 * i)
		}
		if spare := 64 - 8*t.Size; t.Signed {
			bits = uint64(int64(bits<<spare) >> spare)
		}
		write[0].Offset, write[0].Bytes = 0, a.AppendWord(nil, bits)
	}
	return write, nil
}
