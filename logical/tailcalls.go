package logical

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/trad"
)

// AppendTailCalls appends the frames that left by a tail call after f had called them, the
// innermost first: they are between NEXT and f.
func (v *View) AppendTailCalls(list []Frame, level int, f *frame.Frame) []Frame {
	calls := v.tailCalls(f)
	if calls == nil {
		return list
	}
	next := f.Next()
	for i, c := range calls.Calls {
		at := v.at(codeKey{c.PC, c.Jump}).At[0]
		list = append(list, Frame{
			Location: at, Type: frame.TailCall, Level: level + i, PC: c.PC, AddressInBlock: c.Jump,
			Physical: next, Calls: calls, depth: len(calls.Calls) - i,
		})
	}
	return list
}

// tailCalls says how the call of f came to NEXT. It returns nil if it went there directly, and if
// nothing is known.
func (v *View) tailCalls(f *frame.Frame) *symbol.TailCalls {
	if block(f) == f.PC() {
		return nil // no call
	}
	next := f.Next()
	if next == nil || next.Level < 0 || next.Type() != frame.Normal || next.MovedOn() != f.MovedOn() || next.Row().Flags&trad.Guess != 0 {
		return nil
	}
	m := f.Module()
	if m == nil {
		return nil
	}
	if _, _, err := m.Image(); err != nil {
		return nil // nothing tells of its calls
	}
	inner := v.Code(next).entry()
	code := v.Code(f)
	if inner == 0 || code.At[0].Module == nil {
		return nil
	}
	if code.lastInner == inner {
		return code.lastCalls
	}
	calls, known := code.calls[inner]
	if !known {
		if !v.callsDirectly(f, inner) {
			if x := v.symbols.TailCalls(v.modules, f.PC(), inner); x.Target != 0 {
				calls = &x
			}
		}
		if code.calls == nil {
			code.calls = make(map[uint64]*symbol.TailCalls, 1)
		} else if len(code.calls) == maxInner {
			clear(code.calls)
		}
		code.calls[inner] = calls
	}
	code.lastInner, code.lastCalls = inner, calls
	return calls
}

// callsDirectly reports whether the call instruction of f itself says that it goes to the function
// that is entered at entry. That needs no debug information.
func (v *View) callsDirectly(f *frame.Frame, entry uint64) bool {
	im, bias, err := v.modules.Find(block(f)).Image()
	if err != nil || v.arch.CallTarget == nil {
		return false
	}
	var room [arch.MaxCall]byte
	n := im.ReadLoaded(f.PC()-bias-uint64(len(room)), room[:])
	to, ok := v.arch.CallTarget(room[:n], f.PC())
	return ok && n == len(room) && to == entry
}

// Explain says why a frame of type TailCall is shown; and for a physical frame, why no tail calls
// are shown, although its call went to another function than the next frame's. For all others it
// returns "".
func (v *View) Explain(f *Frame) string {
	calls := f.Calls
	switch {
	case calls == nil:
		return ""
	case f.Type != frame.TailCall && calls.Err != nil:
		return fmt.Sprintf("tail calls not shown: it calls %s: %v", v.function(calls.Target), calls.Err)
	case f.Type != frame.TailCall && calls.Ambiguous:
		return fmt.Sprintf("tail calls: it calls %s; several ways lead on from there: what they share is shown", v.function(calls.Target))
	case f.Type != frame.TailCall:
		return fmt.Sprintf("tail calls: it calls %s", v.function(calls.Target))
	}
	i := len(calls.Calls) - f.depth
	c := calls.Calls[i]
	at := v.at(codeKey{c.PC, c.Jump}).At
	name := name(&at[len(at)-1])
	if len(at) > 1 {
		name += " (in " + f.Function + ", inlined)"
	}
	text := fmt.Sprintf("tail call: %s jumps to %s before %#x", name, v.function(c.To), c.PC)
	if calls.Ambiguous && i == calls.Callees {
		text += "; several ways lead on from there"
	}
	return text
}

// function returns the name of the function that is entered at an address.
func (v *View) function(entry uint64) string {
	at := v.at(codeKey{entry, entry}).At
	return name(&at[len(at)-1])
}

func name(at *symbol.Location) string {
	if at.Function == "" {
		return fmt.Sprintf("%#x", at.Start)
	}
	return at.Function
}
