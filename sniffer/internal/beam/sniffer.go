package beam

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/erts"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state of its own.
type Sniffer struct{}

func (*Sniffer) Name() string { return "beam" }

const (
	inFile      = frame.Answer("PC is in a file's code")
	noErlang    = frame.Answer("no run time system of Erlang is mapped")
	otherFrames = frame.Answer("Erlang's frames on this architecture are not known")
	interpreted = frame.Answer("Erlang's code is interpreted")
	otherCode   = frame.Answer("PC is in no code that Erlang's run time system has compiled")
	noEffort    = frame.Answer("too much code without tables was looked at already")
	lostStack   = frame.Answer("where Erlang's stack is cannot be told")
	notSetUp    = frame.Answer("no return address of Erlang's was found")
	noCaller    = frame.Answer("the call of the scheduler's loop was not found")
)

func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Module != nil {
		if _, _, err := q.Module.Image(); err == nil {
			return trad.Row{}, inFile
		}
	}
	r := erts.NewReader(q.Modules.MemoryOr(q.Memory), q.Arch)
	m, err := erts.Of(q.Modules, q.Arch, r)
	switch {
	case err == erts.ErrNone:
		return trad.Row{}, noErlang
	case err != nil:
		return trad.Row{}, frame.Answer(err.Error())
	case !m.JIT:
		return trad.Row{}, interpreted
	case q.Arch.Erlang == nil || m.Otp < 25:
		return trad.Row{}, otherFrames
	}
	c := code{q: q, m: m, Code: m.Code(r)}
	if f, ok := c.Function(q.AddressInBlock); ok {
		return c.row(f.Code)
	}
	if f, ok := c.Fragment(q.AddressInBlock); ok {
		if q.PC == m.NormalExit && !q.Innermost() {
			return c.bottom(trad.OtherStack)
		}
		c.shared = f.Name
		return c.row(f.Lo)
	}
	if f, ok := c.Fragment(q.PC); ok && !q.Innermost() && q.PC == f.Lo {
		if q.PC == m.NormalExit {
			return c.bottom(trad.OtherStack)
		}
		c.shared = f.Name
		return c.row(f.Lo)
	}
	return trad.Row{}, otherCode
}

// code is what the row of one frame is made of.
type code struct {
	q *frame.Query
	m *erts.Machine
	*erts.Code
	shared string // the name of the shared code that PC is in; "" if it is a function's
}

// row returns the row of a frame whose code begins at start.
func (c *code) row(start uint64) (trad.Row, frame.Answer) {
	q, rules := c.q, c.q.Arch.Erlang
	sp, registers := q.This.Register(q.Arch.SP), q.This.Register(rules.Registers)
	if !sp.Known() {
		return trad.Row{}, lostStack
	}
	inward := c.m.Of("registers.x")
	if registers.Known() && sp.Bits == registers.Bits-inward {
		if c.shared == schedulerLoop {
			return c.bottom(0) // no Erlang process runs
		}
		return c.onThread(start, inward)
	}
	if !q.Innermost() {
		if words := c.m.TraceWords(c.shared); words > 0 || c.shared == "" {
			return c.scanned(sp.Bits+8*words, 0)
		}
	}
	if !q.MaySearch() {
		return trad.Row{}, noEffort
	}
	text := c.text(start, q.PC+arch.MaxCall)
	try := func(row trad.Row) bool {
		return row.CFA.Kind == trad.InReg && row.CFA.Reg == q.Arch.SP && row.RA == trad.Rule{Kind: trad.Saved, Off: -8} && row.CFA.Off >= 8 && c.isReturn(sp.Bits+uint64(row.CFA.Off)-8)
	}
	read, steps, why := q.Arch.ReadReached(text, start, q.PC)
	q.CountSearched(steps)
	if why == "" && try(read) {
		return c.made(trad.Rule{Kind: trad.InReg, Reg: q.Arch.SP, Off: read.CFA.Off}, nil, 0), frame.Claimed
	}
	var out trad.Row
	steps = q.Arch.ReadAhead(c.text(q.PC, q.PC+maxAhead), q.PC, q.PC, nil, func(way trad.Row, calls int) bool {
		if calls == 0 && try(way) {
			out = way
		}
		return calls == 0 && out.Len == 0
	})
	q.CountSearched(steps)
	if out.Len > 0 {
		return c.made(trad.Rule{Kind: trad.InReg, Reg: q.Arch.SP, Off: out.CFA.Off}, nil, 0), frame.Claimed
	}
	return c.scanned(sp.Bits, trad.Guess)
}

// onThread returns the row of a frame that calls C, or is about to, on the stack of its thread.
func (c *code) onThread(start, inward uint64) (trad.Row, frame.Answer) {
	q, rules := c.q, c.q.Arch.Erlang
	if !q.MaySearch() {
		return trad.Row{}, noEffort
	}
	text := c.text(start, q.PC)
	at, saved, ok := rules.ToC(text, inward)
	q.CountSearched(len(text) / readOver)
	if !ok {
		return trad.Row{}, lostStack
	}
	var stack uint64
	if saved && !c.m.FramePointers {
		v := q.This.Register(rules.Saved)
		if !v.Known() {
			return trad.Row{}, lostStack
		}
		stack = v.Bits
	} else {
		p := q.This.Register(rules.Process)
		if !p.Known() {
			return trad.Row{}, lostStack
		}
		b := q.Read(p.Bits+c.m.Of("process.stop"), 8)
		if len(b) < 8 {
			return trad.Row{}, lostStack
		}
		stack = q.Arch.Word(b)
	}
	change := start + uint64(at)
	read, steps, why := q.Arch.ReadReached(text, start, change)
	q.CountSearched(steps)
	if why == "" && read.CFA.Kind == trad.InReg && read.CFA.Reg == q.Arch.SP && read.RA == (trad.Rule{Kind: trad.Saved, Off: -8}) && read.CFA.Off >= 8 {
		if cfa := stack + uint64(read.CFA.Off); c.isReturn(cfa - 8) {
			return c.at(cfa, 0), frame.Claimed
		}
	}
	// The run time system itself may look through the stack from here on.
	return c.scanned(stack, 0)
}

// scanned returns the row of a frame whose words begin at an address on an Erlang stack: its return
// address is the first word that is no value.
func (c *code) scanned(from uint64, flags trad.Flags) (trad.Row, frame.Answer) {
	var words [256]byte
	for at := from; at < from+8*mostWords; at += uint64(len(words)) {
		b := words[:copy(words[:], c.q.Read(at, len(words)))] // what Read returns, the next Read overwrites
		for i := 0; i+8 <= len(b); i += 8 {
			if w := c.q.Arch.Word(b[i:]); w == 0 && !c.m.FramePointers || w&valueMask != 0 {
				continue
			}
			place := at + uint64(i)
			if c.m.FramePointers {
				place += 8
			}
			if !c.isReturn(place) {
				return trad.Row{}, notSetUp
			}
			return c.at(place+8, flags), frame.Claimed
		}
		if len(b) < len(words) {
			break
		}
	}
	return trad.Row{}, notSetUp
}

const (
	valueMask = 3         // a word with one of these bits is a value
	mostWords = 1024 + 64 // a frame has at most 1024 variables
	maxCode   = 1 << 20   // bytes of a function that are read
	maxAhead  = 4 << 10   // bytes of code that are read for the way out
	readOver  = 32        // so many bytes that are read count as one instruction of a search
)

// isReturn reports whether an address on a stack has a return address into Erlang's code.
func (c *code) isReturn(place uint64) bool {
	b := c.q.Read(place, 8)
	if len(b) < 8 {
		return false
	}
	to := c.q.Arch.Word(b)
	if to == c.m.NormalExit {
		return true
	}
	if f, ok := c.Fragment(to); ok && f.Lo == to {
		return true
	}
	if _, ok := c.Fragment(to - 1); !ok && !c.In(to-1) {
		return false
	}
	follows, _ := c.q.FollowsCall(to)
	return follows
}

// text returns code.
func (c *code) text(lo, hi uint64) []byte {
	if hi <= lo {
		return nil
	}
	b := make([]byte, min(hi-lo, maxCode))
	n, _ := c.q.Modules.MemoryOr(c.q.Memory).ReadMemory(lo, b)
	return b[:n]
}

// at returns the row of a frame whose CFA is an address on an Erlang stack.
func (c *code) at(cfa uint64, flags trad.Flags) trad.Row {
	q := c.q
	if sp := q.This.Register(q.Arch.SP); cfa-sp.Bits < maxFrame {
		return c.made(trad.Rule{Kind: trad.InReg, Reg: q.Arch.SP, Off: int32(cfa - sp.Bits)}, nil, flags)
	}
	return c.made(trad.Rule{Kind: trad.ValExpr}, []trad.Expression{trad.Constant(cfa)}, flags|trad.OtherStack)
}

// maxFrame bounds a frame on the stack that PREVIOUS is on, too, bytes.
const maxFrame = 8 * 2 * mostWords

// made returns a row of a frame that returns into Erlang's code. That has two registers throughout.
func (c *code) made(cfa trad.Rule, exprs []trad.Expression, flags trad.Flags) trad.Row {
	row := trad.Row{
		Lo: c.q.PC, Len: 1, Flags: flags | trad.Once,
		CFA: cfa, RA: trad.Rule{Kind: trad.Saved, Off: -8}, FP: trad.Rule{Kind: trad.Undefined},
		Others: &trad.OtherRules{Regs: c.kept(), Exprs: exprs, Default: trad.Undefined},
	}
	return row
}

func (c *code) kept() []trad.RegRule {
	a, b := c.q.Arch.Erlang.Registers, c.q.Arch.Erlang.Process
	return []trad.RegRule{{Reg: min(a, b), Rule: trad.Rule{Kind: trad.Same}}, {Reg: max(a, b), Rule: trad.Rule{Kind: trad.Same}}}
}

// bottom returns the row of the outermost frame of an Erlang process, or of the scheduler's loop.
// PREVIOUS is the caller of the loop. The loop has made room for Erlang's registers, and rounded
// the stack pointer down. So the return address of its caller is one of few words. It must be the
// only one that is in the function that begins the loop; if that has left by a jump, the only one
// that follows a call of it; if its name is not known, the only one that follows a call by a
// pointer, or of a function that may leave by a jump there.
func (c *code) bottom(flags trad.Flags) (trad.Row, frame.Answer) {
	q := c.q
	registers := q.This.Register(q.Arch.Erlang.Registers)
	main := c.m.Symbol("process_main")
	if !registers.Known() {
		return trad.Row{}, noCaller
	}
	const line = 64 // bytes: what the loop rounds to
	size := c.m.Of("registers.bytes") - c.m.Of("registers.x")
	// Of the function that begins the loop, of a call of it, and of calls that may lead to it.
	var within, of, by []uint64
	// A call pushes the address right below a multiple of 16.
	for off := size + line + 8; off < size+2*line; off += 16 {
		b := q.Read(registers.Bits+off, 8)
		if len(b) < 8 {
			break
		}
		ra := q.Arch.Word(b)
		if follows, _ := q.FollowsCall(ra); !follows || !q.Modules.IsCode(ra-1) {
			continue
		}
		switch to, ok := q.CallTarget(ra); {
		case main != 0 && ra > main && ra-main < mostMain:
			within = append(within, off)
		case main != 0 && ok && to == main:
			of = append(of, off)
		case main == 0 && (!ok || q.JumpsOn(to)):
			by = append(by, off)
		}
	}
	places := within
	if main == 0 {
		places = by
	} else if len(within) == 0 {
		places = of
	}
	if len(places) != 1 {
		return trad.Row{}, noCaller
	}
	return trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Once | flags,
		CFA: trad.Rule{Kind: trad.InReg, Reg: q.Arch.Erlang.Registers, Off: int32(places[0]) + 8}, RA: trad.Rule{Kind: trad.Saved, Off: -8}, FP: c.framePointer(places[0] + 8),
		Others: &trad.OtherRules{Default: trad.Undefined},
	}, frame.Claimed
}

const schedulerLoop = "process_main"

// framePointer returns the frame pointer of the loop's caller, whose part of the stack begins at an
// offset from Erlang's registers. The loop has lost it. But code that keeps a frame pointer has a
// record of its caller there: the caller's frame pointer, which leads to a record in its turn, and
// the return address.
func (c *code) framePointer(from uint64) trad.Rule {
	registers := c.q.This.Register(c.q.Arch.Erlang.Registers).Bits
	for off := from; off < from+mostCaller; off += 8 {
		if at := registers + off; at%16 == 0 {
			if next, ok := c.record(at); ok && next > at && next-at < mostCaller {
				if _, ok := c.record(next); ok {
					return trad.Rule{Kind: trad.InReg, Reg: c.q.Arch.Erlang.Registers, Off: int32(off)}
				}
			}
		}
	}
	return trad.Rule{Kind: trad.Undefined}
}

// mostCaller bounds the frames of a function that calls a scheduler's loop, and of its caller,
// bytes.
const mostCaller = 1024

// record reports whether a frame pointer and a return address are at an address, and returns the
// frame pointer.
func (c *code) record(at uint64) (next uint64, ok bool) {
	b := c.q.Read(at, 16)
	if len(b) < 16 {
		return 0, false
	}
	next, ra := c.q.Arch.Word(b), c.q.Arch.Word(b[8:])
	if !c.q.Modules.IsCode(ra - 1) {
		return 0, false
	}
	follows, _ := c.q.FollowsCall(ra)
	return next, follows
}

// mostMain bounds the C function that begins the loop, bytes.
const mostMain = 256
