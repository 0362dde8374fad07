package yjit

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Name is the sniffer's name.
const Name = "yjit"

// Sniffer is the sniffer.
type Sniffer struct{}

func (*Sniffer) Name() string { return Name }

const (
	unknown   = frame.Answer("YJIT's code is not known on this processor")
	inFile    = frame.Answer("PC is in a file's code")
	noRuby    = frame.Answer("the process has no Ruby")
	other     = frame.Answer("the registers have no execution context of Ruby's with its control frame")
	coming    = frame.Answer("the code of YJIT is just making its frame, or taking it down")
	elsewhere = frame.Answer("no return address to Ruby's code is where YJIT's frame has one")
)

// mostMore bounds how many words more than the frame's own are on the stack while the code calls a
// function of C: it keeps there what is in other registers.
const mostMore = 24

// Sniff implements [frame.Sniffer].
func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	y := q.Arch.YJIT
	if y == nil {
		return trad.Row{}, unknown
	}
	if q.Module != nil {
		if _, _, err := q.Module.PeekImage(); err == nil {
			return trad.Row{}, inFile
		}
	}
	ruby := rubyOf(q)
	if ruby == nil {
		return trad.Row{}, noRuby
	}
	if !running(q, y) {
		return trad.Row{}, other
	}
	sp := q.This.Register(q.Arch.SP)
	if !sp.Known() {
		return trad.Row{}, elsewhere
	}
	size := uint64(q.Arch.PtrSize)
	for words := uint64(len(y.Saved)); words < uint64(len(y.Saved))+mostMore; words++ {
		at := sp.Bits + words*size
		to, ok := q.Word(at)
		if !ok {
			break
		}
		if to < ruby.Lo() || to >= ruby.Hi() || !q.Arch.AfterCall(q.Read(to-longestCall, longestCall)) {
			continue
		}
		row := rowOf(q, at-sp.Bits)
		if leaves(q, &row) {
			return trad.Row{}, coming
		}
		return row, frame.Claimed
	}
	return trad.Row{}, elsewhere
}

// longestCall is how long the instruction of a call is at most, bytes.
const longestCall = 8

// Where an execution context has its stack, that stack's size in words, and the control frame, in
// words: in all releases with YJIT.
const (
	contextStack = iota
	contextSize
	contextFrame
)

// mostStack bounds the stacks of control frames, words.
const mostStack = 1 << 28

// running reports whether the registers have an execution context, and a control frame on its
// stack.
func running(q *frame.Query, y *arch.YJITCode) bool {
	context, control := q.This.Register(y.Context), q.This.Register(y.Frame)
	if !context.Known() || !control.Known() {
		return false
	}
	word := func(i int) uint64 {
		v, _ := q.Word(context.Bits + uint64(i*q.Arch.PtrSize))
		return v
	}
	stack, size, now := word(contextStack), word(contextSize), word(contextFrame)
	end := stack + size*uint64(q.Arch.PtrSize)
	inside := func(frame uint64) bool { return frame >= stack && frame <= end }
	return stack != 0 && size != 0 && size <= mostStack && inside(control.Bits) && inside(now)
}

// rowOf returns the row of a frame whose return address is that far from the stack pointer, bytes.
func rowOf(q *frame.Query, at uint64) trad.Row {
	size := q.Arch.PtrSize
	row := trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Once, CFA: trad.Rule{Kind: trad.InReg, Reg: q.Arch.SP, Off: int32(at) + int32(size)},
		RA: trad.Rule{Kind: trad.Saved, Off: int32(-size)}, FP: trad.Rule{Kind: trad.Same},
	}
	off := -2 * size
	// With --yjit-perf the code keeps a frame pointer, and saves it twice to align the stack.
	sp := q.This.Register(q.Arch.SP)
	if fp := q.This.Register(q.Arch.FP); fp.Known() && sp.Known() && fp.Bits == sp.Bits+at-uint64(size) {
		row.FP = trad.Rule{Kind: trad.Saved, Off: int32(off)}
		off -= 2 * size
	}
	others := &trad.OtherRules{Default: trad.Same}
	for _, reg := range q.Arch.YJIT.Saved {
		others.Regs = append(others.Regs, trad.RegRule{Reg: reg, Rule: trad.Rule{Kind: trad.Saved, Off: int32(off)}})
		off -= size
	}
	slices.SortFunc(others.Regs, func(a, b trad.RegRule) int { return cmp.Compare(a.Reg, b.Reg) })
	row.Others = others
	return row
}

// leaves reports whether the code at PC is on a straight way to a return, and has taken down a part
// of the frame.
func leaves(q *frame.Query, row *trad.Row) bool {
	if !q.Innermost() || q.Arch.ReadEpilogue == nil {
		return false
	}
	code, out := q.Arch.ReadEpilogue(q.Read(q.PC, mostLeaving), q.PC)
	return out != 0 && out&arch.ByJump == 0 && code.CFA.Kind == trad.InReg && code.CFA.Reg == q.Arch.SP && code.CFA.Off != row.CFA.Off
}

// mostLeaving is how much code there is between the first register that is restored and the return,
// bytes.
const mostLeaving = 32

type rubyKey struct{}

// variable is one that every such run time has.
var variable = elf.Seldom("ruby_version")

// leastRuby is how large a file with Ruby's run time is at least, in memory, bytes.
const leastRuby = 2 << 20

// rubyOf returns the module of Ruby's run time; nil if there is none.
func rubyOf(q *frame.Query) *target.Module {
	return q.Modules.Memo(rubyKey{}, func() any {
		for _, m := range q.Modules.All() {
			if m.Hi()-m.Lo() < leastRuby {
				continue
			}
			if im, _, err := m.PeekImage(); err == nil && im.MayHaveSymbol(variable) {
				return m
			}
		}
		return (*target.Module)(nil)
	}).(*target.Module)
}
