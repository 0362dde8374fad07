package expr

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	maxStack  = 256  // values on the stack
	maxSteps  = 8192 // operations of one evaluation, with the expressions that it calls
	maxCalls  = 8    // nested calls
	maxPieces = 1024
)

// evaluation is the state of one run.
type evaluation struct {
	x      Expression
	word   int // bytes of a value of the generic type
	env    *Context
	r      dwarf.Reader
	stack  []operand
	loc    Location // what an operation describes that describes a location as a whole; only a piece may follow
	whole  bool     // there was such an operation
	pieces []Piece
	steps  int
	calls  int
	what   string // what could not be had, if err says why
	err    error
}

// Locate returns where an object is whose location the expression describes. An
// empty expression says that the object is optimized out. The error wraps [ErrMalformed],
// [ErrUnavailable], or an error of env.
func (x Expression) Locate(env *Context) (Location, error) {
	e := evaluations.Get().(*evaluation)
	defer e.free()
	if err := e.run(x, env); err != nil {
		return Location{}, err
	}
	if e.pieces != nil {
		if e.whole || len(e.stack) > 0 {
			return Location{}, malformed("a location follows the last piece")
		}
		return Location{Kind: Composite, Pieces: e.pieces}, nil
	}
	return e.take(len(x.Code) == 0)
}

// Value returns the number that the expression computes: an address for a frame base or a location
// in memory. A register stands for its contents, and so does a value that is nowhere.
func (x Expression) Value(env *Context) (uint64, error) {
	l, err := x.Number(env)
	return l.Bits, err
}

// Number is Value for a number of any type, which it returns as a location of the kind [Value].
func (x Expression) Number(env *Context) (Location, error) {
	l, err := x.Locate(env)
	if err != nil {
		return Location{}, err
	}
	switch l.Kind {
	case Memory:
		return Location{Kind: Value, Bits: l.Addr}, nil
	case Value:
		return l, nil
	case Register:
		e := evaluation{x: x, env: env}
		v := e.register(uint64(l.Reg))
		return Location{Kind: Value, Bits: v}, e.err
	}
	return Location{}, unavailable("the expression describes no number")
}

// evaluations have ended: their room is used again.
var evaluations = sync.Pool{New: func() any { return &evaluation{stack: make([]operand, 0, 8)} }}

func (e *evaluation) free() {
	*e = evaluation{stack: e.stack[:0]}
	evaluations.Put(e)
}

func (e *evaluation) run(x Expression, env *Context) error {
	if x.AddrSize != 4 && x.AddrSize != 8 || x.Order == nil {
		return malformed("addresses of %d bytes", x.AddrSize)
	}
	e.x, e.env, e.word = x, env, max(x.AddrSize, env.Word)
	e.code(x.Code)
	return e.err
}

// code runs operations on the stack that there is.
func (e *evaluation) code(code []byte) {
	outer := e.r
	e.r = dwarf.New(code, e.x.Order)
	for e.r.More() && e.err == nil {
		at := e.r.Off
		if e.steps++; e.steps > maxSteps {
			e.err = malformed("no end after %d operations", maxSteps)
			return
		}
		const often = 256
		if e.steps%often == 0 && e.env.More != nil && !e.env.More(often) {
			e.err = malformed("too many operations of all expressions")
			return
		}
		op := modern(e.r.U8())
		if e.whole && op != dwarf.OpPiece && op != dwarf.OpBitPiece && op != dwarf.OpGNUUninit && op != dwarf.OpNop {
			e.err = malformed("operation %#02x at %#x follows a whole location", op, at)
			return
		}
		if !e.constant(op) && !e.place(op) && !e.typed(op) && !e.arrange(op) && !e.arithmetic(op) {
			e.fail(malformed("operation %#02x is unknown", op))
		}
		if e.r.Bad {
			e.fail(malformed("operand is cut off or does not fit in 64 bits"))
		}
		if e.err != nil {
			e.err = e.failed(op, at)
		}
	}
	e.r = outer
}

// Failure keeps the error with which an expression's evaluation has ended. Give the same one to all
// evaluations of an expression: in the frames of many threads it mostly ends with the same error,
// which then is in memory once.
type Failure struct{ last *operationError }

// failed returns the error of an operation.
func (e *evaluation) failed(op byte, at int) error {
	what := e.what
	e.what = ""
	f := e.env.Failure
	if f != nil && f.last != nil && f.last.op == op && f.last.at == at && f.last.what == what && Same(f.last.err, e.err) {
		return f.last
	}
	err := &operationError{op, at, what, e.err}
	if f != nil {
		f.last = err
	}
	return err
}

// Same reports whether two errors are one and the same pointer. Call it where == might panic:
// errors need not be comparable.
func Same(a, b error) bool {
	t := reflect.TypeOf(a)
	return t != nil && t == reflect.TypeOf(b) && t.Kind() == reflect.Pointer && a == b
}

// operationError says which operation failed. As for many variables an evaluation fails, and nobody
// asks why, it makes its text when it is asked for.
type operationError struct {
	op byte
	at int // offset in the expression
	// what could not be had; "" if err says that, too.
	what string
	err  error
}

func (e *operationError) Error() string {
	why := e.err
	if e.what != "" {
		why = failure{e.what, e.err}
	}
	return fmt.Sprintf("operation %#02x at %#x: %v", e.op, e.at, why)
}
func (e *operationError) Unwrap() error { return e.err }

// failure says what could not be had.
type failure struct {
	what string
	err  error
}

func (e failure) Error() string { return e.what + ": " + e.err.Error() }
func (e failure) Unwrap() error { return e.err }

// fail notes the first error.
func (e *evaluation) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// stop ends the evaluation unless reason is "", and reports whether it does.
func (e *evaluation) stop(reason string) bool {
	if reason != "" {
		e.fail(malformed("%s", reason))
	}
	return reason != ""
}

func (e *evaluation) push(v uint64) { e.pushOperand(operand{bits: v & mask(e.word)}) }

func (e *evaluation) pushOperand(v operand) {
	if len(e.stack) == maxStack {
		e.fail(malformed("more than %d values on the stack", maxStack))
		return
	}
	e.stack = append(e.stack, v)
}

func (e *evaluation) popOperand() operand {
	n := len(e.stack)
	if n == 0 {
		e.fail(malformed("stack is empty"))
		return operand{}
	}
	v := e.stack[n-1]
	e.stack = e.stack[:n-1]
	return v
}

// pop returns the value on top as a number of 64 bits.
func (e *evaluation) pop() uint64 {
	v := e.popOperand()
	if v.t.float() || v.t.opaque() {
		e.fail(malformed("a float serves as an address or a count"))
	}
	return v.bits
}

// ask pushes the answer of a function of the context.
func (e *evaluation) ask(f func() (uint64, error), what string) {
	if f == nil {
		e.fail(unavailable(what))
		return
	}
	v, err := f()
	if err != nil {
		if e.err == nil {
			e.what, e.err = what, err // as a failure, which would be garbage
		}
		return
	}
	e.push(v)
}

// register returns the contents of a register.
func (e *evaluation) register(n uint64) uint64 {
	switch {
	case e.r.Bad || e.err != nil:
	case n > uint64(^trad.Reg(0)):
		e.fail(malformed("there is no register %d", n))
	case e.env.Register == nil:
		e.fail(unavailable(e.registerName(n)))
	default:
		v, err := e.env.Register(trad.Reg(n))
		if err != nil {
			e.fail(failure{e.registerName(n), err})
		}
		return v
	}
	return 0
}

func (e *evaluation) registerName(n uint64) string {
	if e.env.RegName != nil {
		return "register " + e.env.RegName(trad.Reg(n))
	}
	return fmt.Sprintf("register %d", n)
}

// load returns the size bytes of memory at addr as a number.
func (e *evaluation) load(addr uint64, size int) uint64 {
	if e.err != nil || e.r.Bad {
		return 0
	}
	if size < 1 || size > 8 {
		e.fail(malformed("reads %d bytes, want 1 to 8", size))
		return 0
	}
	if e.env.Memory == nil {
		e.fail(unavailable("memory"))
		return 0
	}
	var b [8]byte
	if err := e.env.Memory(addr, b[:size]); err != nil {
		e.fail(fmt.Errorf("memory at %#x: %w", addr, err))
		return 0
	}
	return e.number(b[:size])
}

// loadTyped returns a value of a type in memory.
func (e *evaluation) loadTyped(addr uint64, t Type) operand {
	if !t.wide() {
		return operand{bits: e.load(addr, t.width(e.word)), t: t}
	}
	rest := t.Size - 8
	if dwarf.New(nil, e.x.Order).Big {
		return operand{e.load(addr+uint64(rest), 8), e.load(addr, rest), t}
	}
	return operand{e.load(addr, 8), e.load(addr+8, rest), t}
}

// typedNumber returns the value of a type that bytes hold, which are as many as it has.
func (e *evaluation) typedNumber(b []byte, t Type) operand {
	if !t.wide() {
		return operand{bits: e.number(b), t: t}
	}
	if rest := t.Size - 8; dwarf.New(nil, e.x.Order).Big {
		return operand{e.number(b[rest:]), e.number(b[:rest]), t}
	}
	return operand{e.number(b[:8]), e.number(b[8:]), t}
}

// number returns up to 8 bytes as a number in the target's byte order.
func (e *evaluation) number(b []byte) (v uint64) {
	big := dwarf.New(nil, e.x.Order).Big
	for i := range b {
		if big {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	return v
}
