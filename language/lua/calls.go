package lua

import (
	"fmt"
)

// call is a function that has not returned.
type call struct {
	at      uint64 // its CallInfo
	closure uint64 // 0 for a function of C without upvalues
	c       uint64 // the address of a function of C; 0 for one of Lua
	proto   uint64 // of a function of Lua
	pc      uint64 // the saved address of the next instruction
	fresh   bool   // it began a frame of the function that executes
	tail    bool   // its caller is not there any more
	hooked  bool   // what it has called is a hook
	final   bool   // what it has called is a finalizer
	caller  *call  // nil for none, or if it is not known
}

// mostCalls bounds the calls of one state.
const mostCalls = 1 << 17

// The variants of functions from 5.2 on, in the bits above the type's four.
const (
	variantLua    = 0
	variantLightC = 1
	variantC      = 2
	typeMask      = 0xf
	variantMask   = 0x3
	tagMask       = 0x3f // without the mark of collectable values
)

// calls reads the calls of a state, the innermost first.
func (r *runtime) calls(m reader, st state) (list []call, err error) {
	at, first := m.Pointer(st.at+m.StateCall), st.at+m.StateBase
	if m.Version == 501 {
		first = m.Pointer(first)
	}
	inner, returning, mark := at, false, uint64(0) // a list that goes round comes back to a mark
	for at != first {
		if n := len(list); n&(n-1) == 0 {
			mark = at
		} else if at == mark {
			return list, fmt.Errorf("the list of calls at %#x goes round", st.at)
		}
		c, ok := r.call(m, at)
		if wrong := m.Err(); wrong != nil {
			return list, fmt.Errorf("a call: %w", wrong)
		}
		if !ok && at == inner && !returning {
			at, returning = r.caller(m, at), true // its result is where its function was
			continue
		}
		if !ok || len(list) == mostCalls {
			return list, fmt.Errorf("the list of calls at %#x makes no sense", st.at)
		}
		if m.Version == 501 && at == inner {
			c.pc = m.Pointer(st.at + m.StatePC)
		}
		list = append(list, c)
		if at = r.caller(m, at); at < first && m.Version == 501 || at == 0 {
			return list, fmt.Errorf("the list of calls at %#x ends early", st.at)
		}
	}
	if m.Version == 501 {
		r.markFresh(m, list)
	}
	for i := range list[:max(len(list), 1)-1] {
		list[i].caller = &list[i+1]
	}
	return list, nil
}

// caller returns the address of the call from which a call was made.
func (r *runtime) caller(m reader, at uint64) uint64 {
	if m.Version == 501 {
		return at - m.Call
	}
	return m.Pointer(at + m.CallPrevious)
}

// call reads a call. ok is false if its function is none.
func (r *runtime) call(m reader, at uint64) (c call, ok bool) {
	c.at = at
	function := m.Pointer(at + m.CallFunc)
	tag := m.Uint(function+m.ValueType, int(m.ValueTypeSize)) & tagMask
	if tag&typeMask != m.TypeFunction {
		return c, false
	}
	value := m.Pointer(function)
	variant := tag >> 4 & variantMask
	if m.Version == 501 {
		if variant = variantLua; m.Uint(value+m.ClosureIsC, 1) != 0 {
			variant = variantC
		}
	}
	switch variant {
	case variantLightC:
		c.c = value
	case variantC:
		c.closure, c.c = value, m.Pointer(value+m.ClosureC)
	case variantLua:
		c.closure, c.proto, c.pc = value, m.Pointer(value+m.ClosureProto), m.Pointer(at+m.CallPC)
	default:
		return c, false
	}
	if m.Version == 501 {
		c.tail = c.c == 0 && m.Uint(at+m.CallTails, 4) != 0
		return c, true
	}
	status := m.Uint(at+m.CallStatus, int(m.CallStatusSize))
	c.tail, c.hooked = status&m.CallTail != 0, status&m.CallHooked != 0
	c.final = m.CallFinalizer != absent && status&m.CallFinalizer != 0
	switch {
	case m.CallFresh != absent:
		c.fresh = status&m.CallFresh != 0
	case m.CallReentry != absent:
		c.fresh = status&m.CallReentry == 0
	default: // 5.4.0: each call executes in a frame of its own
		c.fresh = true
	}
	return c, true
}

// opcodeMask are the bits of an instruction of 5.1 that say what it does.
const opcodeMask = 0x3f

// markFresh says of the calls of 5.1 which began a frame of the function that executes: the ones
// that no instruction for calls of Lua has made.
func (r *runtime) markFresh(m reader, list []call) {
	for i := range list {
		c := &list[i]
		if c.c != 0 {
			continue
		}
		c.fresh = true
		if i+1 < len(list) && list[i+1].proto != 0 {
			op := m.Uint(list[i+1].pc-4, 4) & opcodeMask
			c.fresh = m.Err() != nil || op != m.OpCall && op != m.OpTailCall
		}
	}
}
