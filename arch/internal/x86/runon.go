package x86

import (
	"encoding/binary"
	"maps"
	"math/bits"

	"golang.org/x/arch/x86/x86asm"
)

// A Word is a number, and where it was when the run began.
type Word struct {
	N     uint64
	Known bool
	// From is its origin, by the processor's number of a register; FromMemory if Addr is the
	// origin, Made if it is none.
	From Origin
	Addr uint64
}

// An Origin says where a word was: the processor's number of a register, or one of the constants.
type Origin int8

const (
	Made       Origin = -1 // it was computed
	FromMemory Origin = -2
	Called     Origin = -3 // it is the return address of a call of the run
)

// A Run is the state of a thread of 64-bit code. It is executed in a copy of its own: RunOn
// changes no memory.
type Run struct {
	Regs  [16]Word // by the processor's numbers
	PC    uint64
	Flags uint64 // of RFLAGS, where FlagsKnown
	// FlagsKnown says which flags are known.
	FlagsKnown uint64
	Read       func(addr uint64, p []byte) bool
	// Forks is how many jumps may be taken both ways, since their condition is not known. Blind has
	// the code load and store where it is not known: that is not the stack.
	Forks int
	Blind bool

	stores map[uint64]Word // by the address, a multiple of 8
	code   [64]byte
	lo, hi uint64 // what is in code
}

// Preserved are the processor's numbers of the registers that calls preserve, but for the stack
// pointer: rbx, rbp, r12 to r15.
var Preserved = [...]int{numberBX, numberBP, 12, 13, 14, 15}

// Call has the run begin with a call: next is where it comes back, to is where it goes.
func (r *Run) Call(to, next uint64) bool {
	r.stores = map[uint64]Word{}
	sp := &r.Regs[numberSP]
	sp.N, sp.From = sp.N-8, Made
	r.PC = to
	return r.store(sp.N, 8, Word{N: next, Known: true, From: Called})
}

// The bits of RFLAGS that conditions are made of.
const (
	carry    = 1 << 0
	parity   = 1 << 2
	zero     = 1 << 6
	sign     = 1 << 7
	overflow = 1 << 11
	allFlags = carry | parity | zero | sign | overflow
)

// RunOn executes at most limit instructions, until the function returns, or a frame record is made,
// by the function or by another one in its place. Then ra is the return address, and the registers
// are as they are for the caller, but for the stack pointer. ok is false if a function that the
// code calls makes a frame record, or if the code does what is not known here, or depends on it.
func (r *Run) RunOn(limit int) (ra Word, steps int, returns, ok bool) {
	if r.stores == nil {
		r.stores = map[uint64]Word{}
	}
	for steps < limit {
		x, good := r.fetch(r.PC)
		if !good {
			break
		}
		steps++
		sp := r.Regs[numberSP].N
		switch x.Op {
		case x86asm.RET:
			if ra, ok = r.load(sp, 8); !ok || !ra.Known || ra.From != Called {
				return ra, steps, true, ok && ra.Known
			}
		case x86asm.PUSH:
			if x.Args[0] != x86asm.RBP {
				break
			}
			if next, good := r.fetch(r.PC + uint64(x.Len)); good && next.Op == x86asm.MOV && next.Args[0] == x86asm.RBP && next.Args[1] == x86asm.RSP {
				ra, ok = r.load(sp, 8)
				return ra, steps, false, ok && ra.Known && ra.From != Called
			}
		}
		if c, is := conditions[x.Op]; is && !c.moves && r.Forks > 0 {
			if _, known := r.holds(c.flag); !known {
				return r.fork(&x, limit, steps)
			}
		}
		if !r.step(&x) {
			break
		}
	}
	return ra, steps, false, false
}

// fork takes a jump both ways. Those that come to an end must come to the same.
func (r *Run) fork(x *x86asm.Inst, limit, done int) (ra Word, steps int, returns, ok bool) {
	r.Forks--
	next := r.PC + uint64(x.Len)
	other := *r
	other.stores = maps.Clone(r.stores)
	r.PC = next
	to, ok := other.target(x, next)
	if other.PC = to; !ok {
		return ra, done, false, false
	}
	ra, steps, returns, ok = r.RunOn(limit - done)
	also, more, returned, good := other.RunOn(limit - done)
	if steps += done + more; !ok {
		r.Regs = other.Regs
		return also, steps, returned, good
	}
	if !good {
		return ra, steps, returns, true
	}
	same := also == ra && returned == returns && r.Regs[numberBP] == other.Regs[numberBP]
	for i := range r.Regs {
		if r.Regs[i] != other.Regs[i] {
			r.Regs[i] = Word{From: Made}
		}
	}
	return ra, steps, returns, same
}

// fetch decodes the instruction at an address.
func (r *Run) fetch(pc uint64) (x x86asm.Inst, ok bool) {
	if pc < r.lo || pc > r.hi || r.hi-pc < MaxLen {
		r.lo, r.hi = pc, pc+uint64(len(r.code))
		if !r.Read(pc, r.code[:]) {
			if r.hi = pc + MaxLen; !r.Read(pc, r.code[:MaxLen]) {
				r.hi = pc
				return x, false
			}
		}
	}
	x, err := x86asm.Decode(r.code[pc-r.lo:r.hi-r.lo], 64)
	return x, err == nil && x.Op != 0 && x.Len > 0
}

// step executes an instruction; ok is false if it is none that is known.
func (r *Run) step(x *x86asm.Inst) (ok bool) {
	next := r.PC + uint64(x.Len)
	defer func() { r.PC = next }()
	switch x.Op {
	case x86asm.NOP:
		return true
	case x86asm.JMP:
		to, ok := r.target(x, next)
		next = to
		return ok
	case x86asm.CALL:
		to, ok := r.target(x, next)
		sp := &r.Regs[numberSP]
		sp.N, sp.From = sp.N-8, Made
		ok = ok && r.store(sp.N, 8, Word{N: next, Known: true, From: Called})
		next = to
		return ok
	case x86asm.RET: // from a call of the run
		sp := &r.Regs[numberSP]
		w, ok := r.load(sp.N, 8)
		sp.N, sp.From = sp.N+8, Made
		if n, is := x.Args[0].(x86asm.Imm); is {
			sp.N += uint64(n)
		}
		next = w.N
		return ok && w.Known
	case x86asm.PUSH:
		w, _, ok := r.arg(x, 0, next)
		if !ok || x.DataSize == 16 {
			return false
		}
		sp := &r.Regs[numberSP]
		sp.N, sp.From = sp.N-8, Made
		return r.store(sp.N, 8, w)
	case x86asm.POP:
		sp := &r.Regs[numberSP]
		w, ok := r.load(sp.N, 8)
		to, is := x.Args[0].(x86asm.Reg)
		if !ok || !is || x.DataSize == 16 || to == x86asm.RSP {
			return false
		}
		sp.N, sp.From = sp.N+8, Made
		return r.set(x, 0, next, w)
	case x86asm.LEAVE:
		bp := r.Regs[numberBP]
		w, ok := r.load(bp.N, 8)
		r.Regs[numberSP] = Word{N: bp.N + 8, Known: bp.Known, From: Made}
		r.Regs[numberBP] = w
		return ok && bp.Known
	case x86asm.MOV:
		w, n, ok := r.arg(x, 1, next)
		if x.Args[0] == x86asm.RSP && x.Args[1] != x86asm.RBP {
			return false // another stack
		}
		if _, is := x.Args[1].(x86asm.Imm); is || n < 8 {
			w.From = Made
		}
		return ok && r.set(x, 0, next, w)
	case x86asm.LEA:
		m, is := x.Args[1].(x86asm.Mem)
		if !is || x.Args[0] == x86asm.RSP && m.Base != x86asm.RSP && m.Base != x86asm.RBP {
			return false
		}
		at, ok := r.address(m, next)
		return (ok || x.Args[0] != x86asm.RSP) && r.set(x, 0, next, Word{N: at, Known: ok, From: Made})
	case x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD:
		w, n, ok := r.arg(x, 1, next)
		if w.From = Made; x.Op != x86asm.MOVZX {
			w.N = extended(w.N, n)
		}
		return ok && r.set(x, 0, next, w)
	case x86asm.XCHG:
		a, n, ok := r.arg(x, 0, next)
		b, m, good := r.arg(x, 1, next)
		_, is := x.Args[0].(x86asm.Reg)
		_, are := x.Args[1].(x86asm.Reg)
		return ok && good && is && are && n == 8 && m == 8 && x.Args[0] != x86asm.RSP && x.Args[1] != x86asm.RSP && r.set(x, 0, next, b) && r.set(x, 1, next, a)
	}
	if c, is := conditions[x.Op]; is {
		holds, known := r.holds(c.flag)
		holds = holds != c.not
		switch {
		case !known:
			return false
		case c.moves && holds:
			w, _, ok := r.arg(x, 1, next)
			return ok && x.Args[0] != x86asm.RSP && r.set(x, 0, next, w)
		case c.moves:
			w, _, ok := r.arg(x, 0, next)
			return ok && r.set(x, 0, next, w) // a 32-bit move clears the upper half
		case holds:
			to, ok := r.target(x, next)
			next = to
			return ok
		}
		return true
	}
	return r.compute(x, next)
}

// target returns where a jump goes.
func (r *Run) target(x *x86asm.Inst, next uint64) (to uint64, ok bool) {
	if rel, is := x.Args[0].(x86asm.Rel); is {
		return next + uint64(int64(rel)), true
	}
	w, n, ok := r.arg(x, 0, next)
	return w.N, ok && w.Known && n == 8
}

// compute executes an instruction that computes, and sets flags.
func (r *Run) compute(x *x86asm.Inst, next uint64) (ok bool) {
	a, n, ok := r.arg(x, 0, next)
	if !ok {
		return false
	}
	b, same := Word{}, false
	if x.Args[1] != nil {
		var m int
		if b, m, ok = r.arg(x, 1, next); !ok {
			return false
		}
		if _, is := x.Args[1].(x86asm.Imm); !is && m != n && x.Args[1] != x86asm.CL {
			return false
		}
		same = x.Args[0] == x.Args[1]
	}
	mask := ^uint64(0) >> (64 - 8*n)
	high := mask &^ (mask >> 1)
	an, bn := a.N&mask, b.N&mask
	known := a.Known && b.Known
	var v, flags uint64
	touched, writes := uint64(allFlags), true
	switch x.Op {
	case x86asm.ADD:
		v = (an + bn) & mask
		flags = flag(carry, v < an) | flag(overflow, ^(an^bn)&(an^v)&high != 0)
	case x86asm.SUB, x86asm.CMP:
		v = (an - bn) & mask
		flags = flag(carry, an < bn) | flag(overflow, (an^bn)&(an^v)&high != 0)
		writes = x.Op == x86asm.SUB
	case x86asm.AND, x86asm.TEST:
		v, writes = an&bn, x.Op == x86asm.AND
	case x86asm.OR:
		v = an | bn
	case x86asm.XOR:
		if v = an ^ bn; same {
			v, known = 0, true
		}
	case x86asm.INC:
		v, known = (an+1)&mask, a.Known
		flags, touched = flag(overflow, v == high), allFlags&^carry
	case x86asm.DEC:
		v, known = (an-1)&mask, a.Known
		flags, touched = flag(overflow, an == high), allFlags&^carry
	case x86asm.NEG:
		v, known = -an&mask, a.Known
		flags = flag(carry, an != 0) | flag(overflow, v == high)
	case x86asm.NOT:
		v, known, touched = ^an&mask, a.Known, 0
	case x86asm.SHL, x86asm.SHR, x86asm.SAR:
		by := b.N & 31
		if n == 8 {
			by = b.N & 63
		}
		if !b.Known || by == 0 {
			return b.Known
		}
		var out uint64 // the last bit that is shifted out
		switch x.Op {
		case x86asm.SHL:
			v, out = an<<by&mask, an<<(by-1)&high
		case x86asm.SHR:
			v, out = an>>by, an>>(by-1)&1
		default:
			v, out = uint64(int64(extended(an, n))>>by)&mask, uint64(int64(extended(an, n))>>(by-1))&1
		}
		flags, known = flag(carry, out != 0), a.Known
		r.FlagsKnown &^= overflow
		touched = allFlags &^ overflow
	default:
		return false
	}
	if known {
		flags |= flag(zero, v == 0) | flag(sign, v&high != 0) | flag(parity, bits.OnesCount8(uint8(v))%2 == 0)
		r.Flags = r.Flags&^touched | flags&touched
		r.FlagsKnown |= touched
	} else {
		r.FlagsKnown &^= touched
	}
	if !writes {
		return true
	}
	if x.Args[0] == x86asm.RSP && (!known || x.Op != x86asm.ADD && x.Op != x86asm.SUB && x.Op != x86asm.AND) {
		return false
	}
	return r.set(x, 0, next, Word{N: v, Known: known, From: Made})
}

func flag(bit uint64, is bool) uint64 {
	if is {
		return bit
	}
	return 0
}

// extended returns a number of n bytes with its sign.
func extended(v uint64, n int) uint64 {
	s := 64 - 8*n
	return uint64(int64(v<<s) >> s)
}

// A condition is one of flags, or its opposite, of a jump or a move.
type condition struct {
	flag       test
	not, moves bool
}

type test uint8

const (
	isOverflow test = iota
	isBelow
	isZero
	isBelowEqual
	isSign
	isParity
	isLess
	isLessEqual
)

var conditions = map[x86asm.Op]condition{
	x86asm.JO: {isOverflow, false, false}, x86asm.JNO: {isOverflow, true, false},
	x86asm.JB: {isBelow, false, false}, x86asm.JAE: {isBelow, true, false},
	x86asm.JE: {isZero, false, false}, x86asm.JNE: {isZero, true, false},
	x86asm.JBE: {isBelowEqual, false, false}, x86asm.JA: {isBelowEqual, true, false},
	x86asm.JS: {isSign, false, false}, x86asm.JNS: {isSign, true, false},
	x86asm.JP: {isParity, false, false}, x86asm.JNP: {isParity, true, false},
	x86asm.JL: {isLess, false, false}, x86asm.JGE: {isLess, true, false},
	x86asm.JLE: {isLessEqual, false, false}, x86asm.JG: {isLessEqual, true, false},
	x86asm.CMOVO: {isOverflow, false, true}, x86asm.CMOVNO: {isOverflow, true, true},
	x86asm.CMOVB: {isBelow, false, true}, x86asm.CMOVAE: {isBelow, true, true},
	x86asm.CMOVE: {isZero, false, true}, x86asm.CMOVNE: {isZero, true, true},
	x86asm.CMOVBE: {isBelowEqual, false, true}, x86asm.CMOVA: {isBelowEqual, true, true},
	x86asm.CMOVS: {isSign, false, true}, x86asm.CMOVNS: {isSign, true, true},
	x86asm.CMOVP: {isParity, false, true}, x86asm.CMOVNP: {isParity, true, true},
	x86asm.CMOVL: {isLess, false, true}, x86asm.CMOVGE: {isLess, true, true},
	x86asm.CMOVLE: {isLessEqual, false, true}, x86asm.CMOVG: {isLessEqual, true, true},
}

// needs are the flags that a test is of.
var needs = [...]uint64{
	isOverflow: overflow, isBelow: carry, isZero: zero, isBelowEqual: carry | zero, isSign: sign,
	isParity: parity, isLess: sign | overflow, isLessEqual: sign | overflow | zero,
}

// holds reports whether a test holds.
func (r *Run) holds(t test) (holds, known bool) {
	f := r.Flags
	less := f&sign != 0 != (f&overflow != 0)
	switch t {
	case isLess:
		holds = less
	case isLessEqual:
		holds = less || f&zero != 0
	default:
		holds = f&needs[t] != 0
	}
	return holds, r.FlagsKnown&needs[t] == needs[t]
}

// arg returns an operand, and its size in bytes.
func (r *Run) arg(x *x86asm.Inst, i int, next uint64) (w Word, n int, ok bool) {
	switch a := x.Args[i].(type) {
	case x86asm.Imm:
		return Word{N: uint64(int64(a)), Known: true, From: Made}, 8, true
	case x86asm.Reg:
		number, n, shift := register(a)
		if n == 0 {
			return w, 0, false
		}
		if w = r.Regs[number]; n < 8 {
			w.N, w.From = w.N>>shift&(1<<(8*n)-1), Made
		}
		return w, n, true
	case x86asm.Mem:
		at, ok := r.address(a, next)
		if !ok && !r.Blind || x.MemBytes > 8 || x.MemBytes <= 0 {
			return w, 0, false
		}
		if !ok {
			return Word{From: Made}, x.MemBytes, true
		}
		w, ok = r.load(at, x.MemBytes)
		return w, x.MemBytes, ok
	}
	return w, 0, false
}

// set gives an operand a value.
func (r *Run) set(x *x86asm.Inst, i int, next uint64, w Word) (ok bool) {
	switch a := x.Args[i].(type) {
	case x86asm.Reg:
		number, n, shift := register(a)
		switch n {
		case 8:
			r.Regs[number] = w
		case 4:
			r.Regs[number] = Word{N: uint64(uint32(w.N)), Known: w.Known, From: Made}
		case 1, 2:
			mask := uint64(1<<(8*n)-1) << shift
			old := r.Regs[number]
			r.Regs[number] = Word{N: old.N&^mask | w.N<<shift&mask, Known: old.Known && w.Known, From: Made}
		default:
			return false
		}
		return r.Regs[numberSP].Known
	case x86asm.Mem:
		at, ok := r.address(a, next)
		if !ok {
			return r.Blind
		}
		return x.MemBytes > 0 && x.MemBytes <= 8 && r.store(at, x.MemBytes, w)
	}
	return false
}

// register returns the processor's number of a register, its size in bytes, and from which bit on
// it is there. n is 0 for what is no general register.
func register(a x86asm.Reg) (number, n int, shift uint) {
	switch {
	case a >= x86asm.RAX && a <= x86asm.R15:
		return int(a - x86asm.RAX), 8, 0
	case a >= x86asm.EAX && a <= x86asm.R15L:
		return int(a - x86asm.EAX), 4, 0
	case a >= x86asm.AX && a <= x86asm.R15W:
		return int(a - x86asm.AX), 2, 0
	case a >= x86asm.AL && a <= x86asm.BL:
		return int(a - x86asm.AL), 1, 0
	case a >= x86asm.AH && a <= x86asm.BH:
		return int(a - x86asm.AH), 1, 8
	case a >= x86asm.SPB && a <= x86asm.R15B:
		return int(a-x86asm.SPB) + numberSP, 1, 0
	}
	return 0, 0, 0
}

// address returns the address of an operand in memory. ok is false if it is not known.
func (r *Run) address(m x86asm.Mem, next uint64) (at uint64, ok bool) {
	if m.Segment == x86asm.FS || m.Segment == x86asm.GS {
		return 0, false
	}
	at = uint64(m.Disp)
	switch {
	case m.Base == x86asm.RIP:
		at += next
	case m.Base != 0:
		number, n, _ := register(m.Base)
		if n != 8 || !r.Regs[number].Known {
			return 0, false
		}
		at += r.Regs[number].N
	}
	if m.Index != 0 {
		number, n, _ := register(m.Index)
		if n != 8 || !r.Regs[number].Known {
			return 0, false
		}
		at += r.Regs[number].N * uint64(m.Scale)
	}
	return at, true
}

// load returns n bytes of memory. What cannot be read is not known.
func (r *Run) load(at uint64, n int) (w Word, ok bool) {
	word := at &^ 7
	if at+uint64(n) > word+8 { // it lies in two words
		_, first := r.stores[word]
		_, second := r.stores[word+8]
		if first || second {
			return w, false
		}
		return r.read(at, n), true
	}
	w, is := r.stores[word]
	if !is {
		return r.read(at, n), true
	}
	if n < 8 {
		w.N, w.From = w.N>>(8*(at-word))&(1<<(8*n)-1), Made
	}
	return w, true
}

func (r *Run) read(at uint64, n int) Word {
	var p [8]byte
	if !r.Read(at, p[:n]) {
		return Word{From: Made}
	}
	w := Word{N: binary.LittleEndian.Uint64(p[:]), Known: true, From: Made}
	if n == 8 {
		w.From, w.Addr = FromMemory, at
	}
	return w
}

// store writes n bytes to the copy of memory.
func (r *Run) store(at uint64, n int, w Word) (ok bool) {
	word := at &^ 7
	switch {
	case n == 8 && at == word:
		r.stores[word] = w
		return true
	case at+uint64(n) > word+8:
		return false
	}
	old, _ := r.load(word, 8)
	shift := 8 * (at - word)
	mask := uint64(1<<(8*n)-1) << shift
	r.stores[word] = Word{N: old.N&^mask | w.N<<shift&mask, Known: old.Known && w.Known, From: Made}
	return true
}
