package beam

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// interpreted adds the frames of a process that the interpreter runs. They stand in the place of
// the interpreter's function, process_main, which has the instruction and the stack of the process
// in registers.
func (r *reader) interpreted(s *language.Stack, scheduler uint64, d *language.Decoration) {
	rules := r.Arch.ErlangVM
	p := r.Pointer(scheduler + r.Of("scheduler.process"))
	if r.JIT || rules == nil || p == 0 {
		return
	}
	at := running{reader: r, process: p}
	if !at.read() {
		r.Err()
		return
	}
	// Functions that the interpreter calls may have left these registers as they are, and ones that
	// call it have others there: the outermost frame is its own.
	for level := len(s.Frames) - 1; level >= 0; level-- {
		f := s.Frames[level]
		instruction, stack := f.Register(rules.Instruction), f.Register(rules.Stack)
		if f.Module() != r.Module || f.Type() != frame.Normal || !instruction.Known() || !stack.Known() {
			continue
		}
		list, early, ok := at.addresses(instruction.Bits, stack.Bits, level == 0)
		if level > 0 && r.schedules(s.Frames[level-1]) {
			ok = at.isParked()
			if ok {
				list, early = r.parked(p)
			}
		}
		if !ok {
			continue
		}
		frames := r.frames(list)
		if len(frames) == 0 {
			return
		}
		cfa, _ := f.CFA()
		d.Groups = append(d.Groups, language.Group{Anchor: language.Anchor{Level: level, PC: f.PC(), CFA: cfa}, Frames: frames})
		d.Early = r.early(p, early)
		for outer := level + 1; outer < len(s.Frames); outer++ {
			if s.Frames[outer].Module() == r.Module {
				d.Own = append(d.Own, outer)
			}
		}
		return
	}
}

// schedules reports whether a frame is of the function that chooses the next process.
func (r *reader) schedules(f *frame.Frame) bool {
	pc := f.AddressInBlock()
	return pc >= r.scheduleLo && pc < r.scheduleHi
}

// running is a process that the interpreter runs.
type running struct {
	*reader
	process         uint64
	heap, end, stop uint64
	collected       bool // its heap is just being replaced, maybe
}

func (p *running) read() bool {
	p.heap, p.end, p.stop = p.Pointer(p.process+p.Of("process.heap")), p.Pointer(p.process+p.Of("process.hend")), p.Pointer(p.process+p.Of("process.stop"))
	p.collected = p.Uint(p.process+p.Of("process.state"), 4)&p.Of("state.garbage") != 0
	return p.OK() && p.heap < p.end && p.process%8 == 0
}

// has reports whether an address is on the process's heap, or its end.
func (p *running) has(at uint64) bool { return at%8 == 0 && at >= p.heap && at <= p.end }

func (p *running) isParked() bool { return p.isProcess(p.process) }

// addresses returns the addresses of code that an instruction and a stack lead to, the innermost
// first; ok is false if they are not the process's. While garbage is collected, the stack may have
// moved to where the process's record says.
func (p *running) addresses(instruction, stack uint64, between bool) (list []uint64, early string, ok bool) {
	if _, is := p.code.Function(instruction); !is || instruction%8 != 0 {
		p.Err()
		return nil, "", false
	}
	end := p.end
	switch own, moved := p.has(stack), p.has(p.stop); {
	case own && (moved || !p.collected):
	case own: // the heap that it has moved to is not the process's yet
		stack, end = p.stop, p.stop+(p.end-stack)
	case moved && p.collected:
		stack = p.stop
	default:
		return nil, "", false
	}
	if between && stack < end && p.isBetween(instruction, p.Pointer(stack)) {
		stack += 8
	}
	list, early = p.returns(stack, end, []uint64{instruction})
	return list, early, true
}

// isBetween reports whether the innermost word of a stack is a return address into the function
// that runs: the interpreter is about to call another one, and has noted where that returns, or has
// just returned, and not yet cleared the word.
func (p *running) isBetween(instruction, word uint64) bool {
	const longestCall = 2 * 8 // bytes, of an instruction that calls
	return word&3 == 0 && word >= instruction && word <= instruction+longestCall
}
