package python

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// linking is what the evaluator of 3.11 and 3.12, in which a thread is, writes to memory before its
// code branches the next time. To call a function it writes two words: the frame that runs now, and
// that frame's caller. Compilers put them in either order, some instructions apart. It implements
// [dataflow.Domain].
type linking struct {
	dataflow.Constants
	m       *memory
	stack   span // the evaluator's part of it
	written []written
}

// written is what the evaluator writes to memory.
type written struct {
	at    uint64
	width uint16 // bytes
	value dataflow.Constant
}

// mostLinking bounds the instructions that are followed.
const mostLinking = 64

// linking returns what the thread is about to write; nil if it is not in the evaluator, or its code
// cannot be followed.
func (c *chain) linking() *linking {
	if c.stack == nil || len(c.stack.Frames) == 0 || !c.r.isEvaluator(c.stack.Frames[0]) {
		return nil
	}
	machine := dataflow.Of(c.r.arch)
	if machine == nil {
		return nil
	}
	l := &linking{Constants: dataflow.Constants{Machine: machine}, m: c.m}
	inner := c.stack.Frames[0]
	if cfa, ok := inner.CFA(); ok {
		l.stack = span{inner.Register(c.r.arch.SP).Bits, cfa}
	}
	for r := range dataflow.Reg(machine.Regs) {
		if v := inner.Register(machine.DWARF(r)); v.Known() {
			l.Regs[r] = dataflow.Known(v.Bits)
		}
	}
	l.follow(inner.PC())
	return l
}

// follow executes instructions from an address on, up to one that branches or calls.
func (l *linking) follow(pc uint64) {
	var room [32]byte
	code := room[:min(int(l.Machine.MaxLen), len(room))]
	var ops []dataflow.Op
	for range mostLinking {
		n, _ := l.m.ReadMemory(pc, code)
		var in dataflow.Inst
		in, ops = l.Machine.Decode(code[:n], 0, ops[:0])
		if in.Len == 0 || int(in.Len) > n {
			return
		}
		switch {
		case in.Flow == dataflow.Jump && in.Target != dataflow.NoTarget:
			pc += uint64(in.Target)
			continue
		case in.Flow != dataflow.Next:
			return
		}
		l.Begin(&in, pc)
		for i := range ops {
			dataflow.Execute(l, &ops[i])
		}
		pc += uint64(in.Len)
	}
}

// Load returns a word.
func (l *linking) Load(o *dataflow.Op, at dataflow.Constant) (v dataflow.Constant) {
	if !at.Known || int(o.Width) != l.m.size {
		return v
	}
	if v, found := l.last(at.Value, o.Width); found {
		return v
	}
	var word [8]byte
	n, _ := l.m.ReadMemory(at.Value, word[:o.Width])
	return dataflow.Constant{Known: n == int(o.Width), Value: l.m.get(word[:])}
}

// Store notes what is written.
func (l *linking) Store(o *dataflow.Op, at, v dataflow.Constant) {
	if at.Known {
		l.written = append(l.written, written{at.Value, o.Width, v})
	}
}

// has reports whether an address is in the evaluator's part of the stack.
func (l *linking) has(at uint64) bool { return l.stack.has(at) }

// last returns what is written last to a word of some bytes. found is false if nothing is.
func (l *linking) last(at uint64, width uint16) (v dataflow.Constant, found bool) {
	for _, w := range slices.Backward(l.written) {
		switch {
		case w.at == at && w.width == width:
			return w.value, true
		case at-w.at < uint64(w.width), w.at-at < uint64(width):
			return v, true
		}
	}
	return v, false
}

// word returns what is written to a word; ok is false if nothing is, or that is not known.
func (l *linking) word(at uint64) (v uint64, ok bool) {
	if l == nil {
		return 0, false
	}
	word, _ := l.last(at, uint16(l.m.size))
	return word.Value, word.Known
}

// touches reports whether something is written to an address.
func (l *linking) touches(at uint64) bool {
	if l == nil {
		return false
	}
	_, found := l.last(at, 1)
	return found
}
