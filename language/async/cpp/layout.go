package cpp

import (
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// layout is how the frame of a coroutine lies in memory, by debug information.
type layout struct {
	linkage string // the linker's name of the coroutine; "" if it is not known
	size    uint64 // of the frame, bytes; 0 if it is not known
	promise place  // nil type if it is not known
	index   part   // the number of the point at which it is suspended; size 0 if there is none
	handles []uint64
	behind  []reference
	awaits  map[point]bool   // see awaitsOf; nil if they are not known yet
	closes  int              // the line of the brace that closes the body; 0 if it is not known
	points  map[uint64]point // by their numbers; nil if they are not known yet
}

// place is where a part of the frame is.
type place struct {
	offset uint64
	typ    *value.Type
}

// part is a number in the frame.
type part struct {
	offset uint64
	size   int    // bytes
	mask   uint64 // the bits of it that count
}

// reference is a pointer in the promise to something that has handles of coroutines.
type reference struct {
	offset  uint64
	handles []uint64 // offsets in what it points to
}

// layoutOf returns the layout of a coroutine's frame. What is not known is left out.
func (r *program) layoutOf(c *coroutine) *layout {
	if c.layout != nil {
		return c.layout
	}
	l := &layout{}
	c.layout = l
	code, ok := r.types.CodeAt(c.resume.lo)
	if !ok {
		return l
	}
	l.linkage = code.Linkage
	for i := range code.Variables {
		v := &code.Variables[i]
		if v.Type == nil {
			continue
		}
		switch t := v.Type.Strip(); {
		case v.Name == "frame_ptr" && t.Kind == value.Pointer: // GCC
			l.frame(t.Elem().Strip())
			_, l.closes = t.Elem().Strip().DeclaredAt()
		case v.Name == "__coro_frame": // Clang
			l.frame(t)
		case v.Name == "__promise" && l.promise.typ == nil:
			l.promise.typ = t
		}
	}
	if t := l.promise.typ; t != nil {
		if l.promise.offset == 0 { // behind two pointers, as std::coroutine_handle::from_promise has it
			align := max(t.Alignment(false), 1)
			l.promise.offset = (16 + align - 1) / align * align
		}
		l.promised()
	}
	if l.index.size == 0 && !c.gcc && r.arch.Dispatch != nil { // Clang from 17 on leaves the frame's type out
		if off, width, ok := r.arch.Dispatch(r.read(span{c.resume.lo, min(c.resume.hi, c.resume.lo+mostDispatch)})); ok && off >= 16 {
			l.index = part{uint64(off), width, ^uint64(0)}
		}
	}
	return l
}

// frame takes in the type of the frame. GCC's members begin with "_Coro_", Clang's with "__".
func (l *layout) frame(t *value.Type) {
	if t.Kind != value.Struct {
		return
	}
	l.size, _ = t.SizeOf()
	if linkage, ok := strings.CutSuffix(t.Name, ".Frame"); ok {
		l.linkage = linkage
	}
	fields := t.Fields()
	for i := range fields {
		f := &fields[i]
		if f.Static || f.Offset < 0 {
			continue
		}
		switch f.Name {
		case "_Coro_promise", "__promise":
			l.promise = place{uint64(f.Offset), f.Type.Strip()}
		case "_Coro_resume_index", "__coro_index":
			size, _ := f.Type.SizeOf()
			l.index = part{offset: uint64(f.Offset), size: int(max(size, 1)), mask: ^uint64(0)}
			if f.Bits > 0 {
				l.index.mask = 1<<f.Bits - 1
			}
		}
	}
	if l.index.size > 8 || l.index.size&(l.index.size-1) != 0 {
		l.index = part{}
	}
}

// mostDispatch bounds the code that is read for where it branches first, bytes.
const mostDispatch = 512

// read returns the code in a span, as far as it can be read.
func (r *program) read(s span) []byte {
	code := make([]byte, min(s.hi-s.lo, mostCode))
	n, _ := r.code.ReadMemory(s.lo, code)
	return code[:n]
}

// Bounds of the search for handles in a type.
const (
	mostNested = 16
	mostParts  = 4096
)

// promised finds what leads from the promise to the coroutine that waits for this one.
func (l *layout) promised() {
	left := mostParts
	parts(l.promise.typ, l.promise.offset, mostNested, &left, func(t *value.Type, at uint64) bool {
		switch {
		case isHandle(t):
			l.handles = append(l.handles, at)
			return false
		case t.Kind == value.Pointer:
			if to := t.Elem().Strip(); to.Kind == value.Struct && !isHandle(to) {
				x := reference{offset: at}
				parts(to, 0, mostNested, &left, func(t *value.Type, at uint64) bool {
					if isHandle(t) {
						x.handles = append(x.handles, at)
						return false
					}
					return true
				})
				l.behind = append(l.behind, x)
			}
		}
		return true
	})
}

// parts calls in for a type at an offset, and, where in returns true, for its members and theirs,
// for its base classes, and for the members of unions.
func parts(t *value.Type, at uint64, nested int, left *int, in func(t *value.Type, at uint64) bool) {
	t = t.Strip()
	if *left--; *left < 0 || nested < 0 || !in(t, at) || t.Kind != value.Struct && t.Kind != value.Union {
		return
	}
	fields := t.Fields()
	for i := range fields {
		if f := &fields[i]; !f.Static && f.Offset >= 0 {
			parts(f.Type, at+uint64(f.Offset), nested-1, left, in)
		}
	}
}

// isHandle reports whether a type is std::coroutine_handle. Libraries have it in inline namespaces
// of their own, and had it in std::experimental.
func isHandle(t *value.Type) bool {
	return t.Kind == value.Struct && strings.HasPrefix(t.Name, "coroutine_handle<") && strings.HasPrefix(t.FullName(), "std::")
}
