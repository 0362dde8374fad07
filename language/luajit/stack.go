package luajit

import (
	"github.com/sfwalk/sfwalk/internal/luajit"
)

// call is a function that has not returned.
type call struct {
	slot  uint64 // the slot of its link; the one of the function comes before
	fn    uint64 // 0 if the function is known by its code alone
	proto uint64 // of a function of Lua; 0 for one of C
	pc    uint64 // of a function of Lua: the address behind the instruction that runs; 0 if that is not known
	frame uint64 // the machine's frame in which it runs
	by    *call  // the function of Lua whose instruction has made the call; nil if there is none
	trace uint64 // the number of the trace that runs it; 0 for none
	guess bool   // pc need not be right
}

// mostCalls bounds the calls of one state.
const mostCalls = 1 << 17

// The types of links, in the lowest bits. A link without them is the address behind the instruction
// that has made the call, else the others are how far the caller's slots are away.
const (
	linkType  = 3 // the bits
	linkC     = 1
	linkMore  = 4
	linkTypes = linkType | linkMore
	linkCont  = 2
	linkVar   = 3 // a function with a variable number of arguments has two frames, of which this is the inner one
)

// The tags of values, from bit 47 on.
const (
	tagShift  = 47
	tagMask   = 1<<17 - 1
	tagFunc   = tagMask &^ 8
	tagThread = tagMask &^ 6
	tagString = tagMask &^ 4
	tagTable  = tagMask &^ 11
	valueMask = 1<<tagShift - 1
)

// callback is what a frame has in the place of a continuation, if C has called a function of Lua as
// one of C (LJ_CONT_FFI_CALLBACK).
const callback = 1

// stack is the stack of a state of Lua.
type stack struct {
	*reader
	luajit.Frame // one of the machine's frames
	lo, hi       uint64
	base         uint64 // as the state has it
	inner        uint64 // the machine's innermost frame of the state; 0 for none

	// slots are what a trace has in place of the words in memory, by their addresses.
	slots map[uint64]slot
}

type slot struct {
	value uint64
	known bool
}

// stackOf returns the stack of a state. ok is false if there is none.
func (r *reader) stackOf(f luajit.Frame) (s *stack, ok bool) {
	s = &stack{reader: r, Frame: f}
	s.base, s.lo = r.Pointer(f.State+luajit.StateBase), r.Pointer(f.State+luajit.StateStack)
	s.hi = s.lo + 8*r.Uint(f.State+luajit.StateSize, 4)
	s.inner = r.Pointer(f.State+luajit.StateCFrame) &^ 3
	return s, r.Err() == nil && luajit.IsAddress(s.lo) && s.hi > s.lo
}

// word returns a slot. known is false if a trace has it in a register.
func (s *stack) word(at uint64) (v uint64, known bool) {
	if x, ok := s.slots[at]; ok {
		return x.value, x.known
	}
	return s.Pointer(at), true
}

// has reports whether there may be a function's slots at an address.
func (s *stack) has(base uint64) bool { return base%8 == 0 && base > s.lo+8 && base <= s.hi }

// function returns the function whose link is in a slot. pc is in its code, or 0: so it can be told
// where a trace has the function in a register. dummy says that what is there stands for none.
func (s *stack) function(at, pc uint64) (fn, proto uint64, dummy, ok bool) {
	v, known := s.word(at - 8)
	switch {
	case !known:
		proto = s.protoOf(pc)
		return 0, proto, false, proto != 0
	case v>>tagShift == tagThread:
		return 0, 0, true, v&valueMask == s.State
	case v>>tagShift != tagFunc:
		// The compiler notes functions without their tags.
		if _, noted := s.slots[at-8]; !noted || v>>tagShift != 0 {
			return 0, 0, false, false
		}
	}
	fn = v & valueMask
	if s.Uint(fn+luajit.StateType, 1) != luajit.TypeFunc {
		return 0, 0, false, false
	}
	if s.Uint(fn+luajit.FuncKind, 1) == 0 {
		proto = s.Pointer(fn+luajit.FuncPC) - luajit.Proto
		if !s.isProto(proto) {
			return 0, 0, false, false
		}
	}
	return fn, proto, false, s.OK()
}

func (r *reader) isProto(proto uint64) bool {
	return luajit.IsAddress(proto) && r.Uint(proto+luajit.StateType, 1) == luajit.TypeProto
}

// mostCode bounds the instructions of one function.
const mostCode = 1 << 24

// runs reports whether an instruction, behind which pc is, is in the code of a function.
func (r *reader) runs(proto, pc uint64) bool {
	size := r.Uint(proto+luajit.ProtoSize, 4)
	return pc%4 == 0 && size <= mostCode && pc-(proto+luajit.Proto)-4 < 4*size
}

// mostBack bounds how far before an instruction its function is looked for.
const mostBack = 1 << 14

// protoOf returns the function that has an instruction, behind which pc is; 0 if that is not known.
func (r *reader) protoOf(pc uint64) uint64 {
	if pc%4 != 0 || pc == 0 {
		return 0
	}
	for at := pc - 4; pc-at < 4*mostBack && r.OK(); at -= 4 {
		if proto := at - luajit.Proto; at%8 == 0 && r.isProto(proto) && r.runs(proto, pc) {
			return proto
		}
	}
	r.Err()
	return 0
}

// previous returns the slot of the link of the caller.
func (s *stack) previous(at, link uint64) uint64 {
	if link&linkType == 0 {
		return at - 8*(2+s.Uint(link-4+1, 1)) // the caller has said where the function is to be
	}
	return at - link&^linkTypes
}

// reserved returns where the stack ended when a frame of the machine was made that runs no function
// of Lua yet. ok is false if the frame is a usual one.
func (s *stack) reserved(frame uint64) (end uint64, ok bool) {
	n := s.Int(frame+s.Results, 4)
	return s.lo + uint64(-n), n < 0
}

// owner returns the machine's frame in which a function runs whose link is in a slot: frame itself,
// or one outward of it.
func (s *stack) owner(frame, at uint64) uint64 {
	for n := 0; frame != 0 && n < mostCalls; n++ {
		if end, ok := s.reserved(frame); !ok || at >= end {
			break
		}
		frame = s.outer(frame)
	}
	return frame
}

// outer returns the machine's frame before a frame; 0 for none.
func (s *stack) outer(frame uint64) uint64 {
	if to := s.Pointer(frame+s.Previous) &^ 3; to > frame {
		return to
	}
	return 0
}

// broken says that calls lead to memory that is none.
const broken = "the list of calls makes no sense"

// larger says why calls are missing.
const larger = "the stack is just being made larger"

// freed reports whether the memory of the stack is not the stack's any more: that begins with the
// state.
func (s *stack) freed() bool {
	first := s.Pointer(s.lo)
	return s.Err() != nil || first != tagThread<<tagShift|s.State
}

// calls returns the calls of a state, the innermost first. why says why they end early.
func (s *stack) calls(in top) (list []*call, why string) {
	frame, next := s.inner, uint64(0)
	second := false // it is the outer frame of a function that has two
	var callee *call
	if in.left {
		frame = s.outer(frame)
	}
	if in.base <= s.lo || in.base > s.hi {
		return nil, larger
	}
	for at := in.base - 8; at > s.lo+8; {
		if len(list) == mostCalls {
			return list, "there are too many"
		}
		if frame != 0 {
			frame = s.owner(frame, at)
		}
		c := &call{slot: at, frame: frame}
		if next == 0 {
			c.pc, c.guess = in.pc, in.guess
		} else if link, _ := s.word(next); link&linkType == 0 {
			c.pc = link
		} else if link&linkTypes == linkCont {
			c.pc, _ = s.word(next - 16)
		} else if frame != 0 {
			c.pc = s.Pointer(frame + s.PC)
		}
		if in.trace != 0 && at >= in.traced-8 {
			c.trace = in.trace
		}
		var dummy, ok bool
		if c.fn, c.proto, dummy, ok = s.function(at, c.pc); !ok {
			s.Err()
			if s.Pointer(at-8) == 0 && s.Pointer(at) == 0 {
				return list, larger // the memory has been freed
			}
			return list, broken
		}
		if c.proto != 0 && !s.runs(c.proto, c.pc) {
			c.pc = s.replaced(c.pc)
			if !s.runs(c.proto, c.pc) {
				c.pc = 0
			}
		}
		link, known := s.word(at)
		if s.Err() != nil || !known {
			return list, broken
		}
		if !second {
			if callee != nil && c.proto != 0 && !dummy {
				callee.by = c
			}
			if callee = nil; !dummy {
				list, callee = append(list, c), c
			}
		}
		second = link&linkTypes == linkVar
		if cont, _ := s.word(at - 24); frame != 0 && (link&linkType == linkC || link&linkTypes == linkCont && cont == callback) {
			frame = s.outer(frame)
		}
		to := s.previous(at, link)
		if to >= at || s.Err() != nil {
			return list, broken
		}
		next, at = at, to
	}
	return list, in.why
}

// replaced returns the address behind the instruction in whose place a trace begins, if pc is
// behind the copy of it that the trace has.
func (r *reader) replaced(pc uint64) uint64 {
	trace := pc - 4 - luajit.TraceInstr
	if !luajit.IsAddress(trace) || r.Uint(trace+luajit.StateType, 1) != luajit.TypeTrace {
		r.Err()
		return 0
	}
	return r.Pointer(trace+luajit.TraceStart) + 4
}
