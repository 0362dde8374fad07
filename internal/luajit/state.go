package luajit

import "github.com/sfwalk/sfwalk/arch"

// Reader reads numbers in the memory of a process. What cannot be read is 0.
type Reader interface {
	Uint(addr uint64, size int) uint64
}

func pointer(r Reader, addr uint64) uint64 { return r.Uint(addr, 8) }

// pointerBits are the bits of a word that may be an address: LuaJIT has types in the others.
const pointerBits = 47

// IsAddress reports whether a word may be the address of one of LuaJIT's objects.
func IsAddress(v uint64) bool { return v >= 1<<12 && v%8 == 0 && v>>pointerBits == 0 }

// The size of a lua_State, bytes: OpenResty's has two words more.
const (
	leastState = 96
	mostState  = 256
)

// GlobalOf returns the address of the global_State of the lua_State at an address. ok is false if
// there is no lua_State.
func GlobalOf(r Reader, state uint64) (global uint64, ok bool) {
	if !IsAddress(state) || r.Uint(state+StateType, 1) != TypeThread {
		return 0, false
	}
	global = pointer(r, state+StateGlobal)
	return global, IsAddress(global) && isGlobal(r, global)
}

// isGlobal reports whether there is a global_State at an address: the main lua_State leads back,
// and lies right before it.
func isGlobal(r Reader, global uint64) bool {
	main := pointer(r, global+GlobalMain)
	return IsAddress(main) && global-main >= leastState && global-main <= mostState && r.Uint(main+StateType, 1) == TypeThread && pointer(r, main+StateGlobal) == global
}

// moved returns how far the fields of a global_State behind globalVMThread are from where releases
// before 2025 have them.
func moved(r Reader, global uint64) uint64 {
	if at := pointer(r, global+globalVMThread); IsAddress(at) && r.Uint(at+StateType, 1) == TypeThread && pointer(r, at+StateGlobal) == global {
		return 8
	}
	return 0
}

// Current returns the state that runs, of all that share a global_State.
func Current(r Reader, global uint64) uint64 {
	return pointer(r, global+globalCurrent+moved(r, global))
}

// JITBaseAt returns where a global_State has [JITBase].
func JITBaseAt(r Reader, global uint64) uint64 { return global + globalJITBase + moved(r, global) }

// JITBase returns the slots of the function in which a trace that runs has begun; 0 if none runs.
func JITBase(r Reader, global uint64) uint64 {
	return pointer(r, JITBaseAt(r, global))
}

// Frame is a frame of the virtual machine on the C stack.
type Frame struct {
	arch.LuaJITFrame
	At     uint64 // the stack pointer, but for what traces take inward of it
	State  uint64 // that runs in it
	Global uint64
}

const (
	flags      = 3       // of a frame's address, in the lua_State
	mostFrames = 1 << 13 // of one state on the C stack
	mostInward = 2 << 10 // how much of the stack traces, and the way out of them, take, bytes
)

// FrameAt returns the machine's frame at an address of the C stack. ok is false if there is none.
func FrameAt(r Reader, m *arch.LuaJITMachine, at uint64) (f Frame, ok bool) {
	for _, at2 := range m.Frames {
		state := pointer(r, at+at2.State)
		global, ok := GlobalOf(r, state)
		if !ok {
			continue
		}
		f = Frame{at2, at, state, global}
		for c := range f.Frames(r) {
			if c == at {
				return f, true
			}
			if c > at {
				break
			}
		}
	}
	return Frame{}, false
}

// Frames yields the addresses of the machine's frames in which the state of a frame runs, the
// innermost first.
func (f *Frame) Frames(r Reader) func(yield func(at uint64) bool) {
	return func(yield func(at uint64) bool) {
		last := uint64(0)
		c := pointer(r, f.State+StateCFrame) &^ flags
		for range mostFrames {
			if c <= last || !yield(c) { // they lie outward of each other
				return
			}
			last, c = c, pointer(r, c+f.Previous)&^flags
		}
	}
}

// FrameFrom returns the machine's innermost frame at an address of the C stack or a little outward
// of it.
func FrameFrom(r Reader, m *arch.LuaJITMachine, sp uint64) (f Frame, ok bool) {
	const alignment = 16
	for at := sp &^ (alignment - 1); at <= sp+mostInward; at += alignment {
		if f, ok = FrameAt(r, m, at); ok {
			return f, true
		}
	}
	return Frame{}, false
}
