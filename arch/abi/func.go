package abi

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/sfwalk/sfwalk/trad"
)

// Func is the type of a function.
type Func struct {
	Result *Type   // nil, or of kind Void, where there is none
	Params []*Type // the declared ones
	// Variadic says that more arguments may follow the declared ones. Unprototyped says that
	// callers knew no parameters, as with C's old style, or without debug information: more
	// arguments may follow, and all are promoted.
	Variadic, Unprototyped bool
	// VectorBytes is the size of the widest vector that the function was compiled to take in a
	// register; 0 is what all processors of the architecture have (amd64: 16; arm64: 16; s390x:
	// none). amd64 has 32 with AVX, 64 with AVX-512. s390x has 16 with the vector facility, which
	// is not Debian's but Ubuntu's default: a file's Tag_GNU_S390_ABI_Vector is 2.
	VectorBytes uint64
}

// Value is an argument: its type, and the bytes that a variable of the type has in memory.
type Value struct {
	Type  *Type
	Bytes []byte
}

// Convention is a calling convention, stateless.
type Convention interface {
	// PushDummyCall says what to write into the thread that shall call a function of type f. The
	// first arguments have the types of f's parameters; further arguments are promoted as C
	// promotes them. sp is the thread's SP, and nothing is written at it or outward, nor into the
	// red zone. The function will return to address ret.
	PushDummyCall(f *Func, args []Value, sp, ret uint64) (*Call, error)
	// ReturnValue says where the result is when a function of type f has returned.
	ReturnValue(f *Func) (*Return, error)
}

// Call is what to write before a call. What is not in it, PC among that, keeps its value or does
// not matter.
type Call struct {
	// Registers holds the registers to write, SP and the return address's register among them.
	Registers []Register
	SP        uint64 // the function's SP at its first instruction
	Stack     []byte // the memory to write, from SP outward
	// Result is the address of the memory, outward of Stack, in which the function will have
	// put the result; 0 where the result is in registers.
	Result uint64
	// Popped is how many bytes of the stack, behind its return address, the function takes off when
	// it returns: on 32-bit x86, the four bytes of the address of Result.
	Popped uint64
}

// Register is the part of a register that a call writes.
type Register struct {
	Reg trad.Reg // the DWARF number
	// Offset is where Bytes go in the register as it lies in memory, 0 but where the order of bytes
	// is big-endian. The ABI leaves the other bytes undefined.
	Offset int
	Bytes  []byte
}

// Return says where a result is.
type Return struct {
	Size   uint64  // bytes of the result
	Pieces []Piece // where registers have it, in the order of the result's bytes
	// Memory says that the result is in the memory whose address the caller has passed: [Call]'s
	// Result. If HasAddress, register Address has the address, too, when the function has returned.
	Memory, HasAddress bool
	Address            trad.Reg
}

// Piece is a part of a result in a register.
type Piece struct {
	Reg       trad.Reg // the DWARF number
	RegOffset int      // bytes from the beginning of the register as it lies in memory
	Offset    int      // bytes from the beginning of the result
	Size      int      // bytes
	// FromX87 says that the register has an x87 number, of which the result is what a conversion to
	// Size bytes gives.
	FromX87 bool
}

// Bytes returns a result that registers have; read fills b from offset on of a register. Padding
// between the pieces is zero.
func (r *Return) Bytes(read func(reg trad.Reg, offset int, b []byte) error) ([]byte, error) {
	result := make([]byte, r.Size)
	for _, p := range r.Pieces {
		b := result[p.Offset : p.Offset+p.Size]
		if p.FromX87 {
			b = make([]byte, x87Bytes)
		}
		if err := read(p.Reg, p.RegOffset, b); err != nil {
			return nil, fmt.Errorf("result in register %d: %w", p.Reg, err)
		}
		if p.FromX87 {
			putX87(result[p.Offset:p.Offset+p.Size], b)
		}
	}
	return result, nil
}

// Arguments returns args as they are to be passed: with the types of the parameters, or promoted as
// C promotes them. An error says which argument is none for f, or wraps [ErrType].
func (f *Func) Arguments(args []Value, order binary.ByteOrder) ([]Value, error) {
	if len(args) < len(f.Params) || len(args) > len(f.Params) && !f.Variadic && !f.Unprototyped {
		return nil, fmt.Errorf("the function has %d parameters, the call %d arguments", len(f.Params), len(args))
	}
	sound := checker{}
	passed := make([]Value, len(args))
	for i, arg := range args {
		if i < len(f.Params) {
			arg.Type = f.Params[i]
		}
		if _, err := sound.check(arg.Type); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		if arg.Type.Kind == Void || arg.Type.Kind == Array {
			return nil, fmt.Errorf("argument %d: %w: %s; pass a pointer", i+1, ErrType, arg.Type.Kind)
		}
		if uint64(len(arg.Bytes)) != arg.Type.Size {
			return nil, fmt.Errorf("argument %d has %d bytes, its type %d", i+1, len(arg.Bytes), arg.Type.Size)
		}
		if i >= len(f.Params) || f.Unprototyped {
			arg = arg.promote(order)
		}
		passed[i] = arg
	}
	return passed, nil
}

// CheckResult returns the type of the result, of kind [Void] where there is none. An error wraps
// [ErrType].
func (f *Func) CheckResult() (*Type, error) {
	if f.Result == nil {
		return &Type{}, nil
	}
	_, err := checker{}.check(f.Result)
	if err == nil && f.Result.Kind == Array {
		err = fmt.Errorf("%w: no function returns an array", ErrType)
	}
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return f.Result, nil
}

var (
	promotedInt    = &Type{Kind: Integer, Size: 4, Signed: true}
	promotedDouble = &Type{Kind: Float, Size: 8}
)

// promote does C's default argument promotions (C11, 6.5.2.2): of a narrow integer to int, of
// float to double.
func (v Value) promote(order binary.ByteOrder) Value {
	switch {
	case v.Type.Kind == Integer && v.Type.Size < 4:
		b := make([]byte, 4)
		order.PutUint32(b, uint32(v.Word(order)))
		return Value{promotedInt, b}
	case v.Type.Kind == Float && v.Type.Size == 4:
		b := make([]byte, 8)
		order.PutUint64(b, math.Float64bits(float64(math.Float32frombits(order.Uint32(v.Bytes)))))
		return Value{promotedDouble, b}
	}
	return v
}

// Word returns an argument of 1, 2, 4 or 8 bytes as the word that a general register has: an
// integer extended by its sign, all else by zeros, in the low bits.
func (v Value) Word(order binary.ByteOrder) (word uint64) {
	b := make([]byte, 8)
	if order == binary.ByteOrder(binary.BigEndian) {
		copy(b[8-len(v.Bytes):], v.Bytes)
	} else {
		copy(b, v.Bytes)
	}
	word = order.Uint64(b)
	if spare := 64 - 8*len(v.Bytes); v.Type.Kind == Integer && v.Type.Signed {
		return uint64(int64(word<<spare) >> spare)
	}
	return word
}
