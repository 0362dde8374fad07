package fibers

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// name is a function on a fiber's stack, and where it is in the source.
type name struct {
	function string
	file     string
	line     int
	at       uint64
}

// mostNames bounds the addresses whose functions are kept.
const mostNames = 1 << 16

// namesAt returns the functions at an address in code, the inlined ones first.
func (r *library) namesAt(pc uint64) []name {
	if list, ok := r.names[pc]; ok {
		return list
	}
	var list []name
	for _, l := range r.symbols.Locate(r.modules, pc) {
		n := name{l.Function, l.File, l.Line, pc}
		if n.function == "" && l.Module != nil {
			n.function = fmt.Sprintf("%s+%#x", filepath.Base(l.Module.Path), pc-l.Module.Lo())
		}
		list = append(list, n)
	}
	if len(r.names) == mostNames {
		clear(r.names)
	}
	r.names[pc] = list
	return list
}

// stack is what the stacks of some fibers are.
type stack struct {
	frames []language.Frame
	fresh  bool   // the fiber has not begun
	object string // what the fiber waits for: "mutex", "future"; "" if that is not known
	inner  string // the innermost of the library's objects that it waits with
}

// stackOf returns what a stack is in the source. resumed says that the innermost frame's PC is
// behind a call. Thousands of fibers have the same.
func (t *tasks) stackOf(physical []*frame.Frame, resumed, main bool) stack {
	key := make([]byte, 0, 8*len(physical)+1)
	for _, f := range physical {
		key = binary.LittleEndian.AppendUint64(key, f.AddressInBlock())
	}
	key = append(key, map[bool]byte{true: 1}[main])
	if s, ok := t.known[string(key)]; ok && resumed {
		return s
	}
	if t.frames += len(physical); t.frames > mostFrames {
		t.fail("there are more than %d frames of fibers", mostFrames)
		return stack{}
	}
	var names []name
	for _, f := range physical {
		pc := f.AddressInBlock()
		if f.Level == 0 && resumed {
			pc--
		}
		names = append(names, t.namesAt(pc)...)
	}
	s := shown(names, resumed, main)
	if resumed {
		t.known[string(key)] = s
	}
	return s
}

// own are beginnings of the names of functions that switch from a fiber to another one.
var own = []string{"boost::context::", "boost::fibers::context::", "boost::fibers::scheduler::", "boost::fibers::algo::", "boost::fibers::wait_queue::", "boost::fibers::detail::", "jump_fcontext", "ontop_fcontext", "make_fcontext"}

// shown makes frames of what is on a stack, without the functions that switch, and without the
// ones that call a fiber's own function.
func shown(names []name, resumed, main bool) (s stack) {
	s.object, s.inner = waitsIn(names)
	begin, end := 0, len(names)
	for resumed && begin < end && begins(names[begin].function, own...) {
		begin++
	}
	if !main {
		for i, n := range slices.Backward(names) {
			if begins(n.function, "boost::fibers::worker_context<") {
				end = i
				break
			}
		}
		for end > 0 && end < len(names) && begins(names[end-1].function, "std::", "boost::context::detail::") {
			end--
		}
		s.fresh = resumed && begin > 0 && begin == len(names) && begins(names[0].function, "boost::context::detail::fiber_entry")
	}
	if begin >= end {
		begin, end = 0, len(names)
	}
	for _, n := range names[begin:end] {
		s.frames = append(s.frames, language.Frame{Function: n.function, File: n.file, Line: n.line, Place: n.at})
	}
	return s
}

// thisFiber is the object of a fiber that sleeps, or lets others run.
const thisFiber = "this_fiber"

// waitsIn returns the objects of the library with which a fiber waits: the one that the program
// has called, and the innermost one.
func waitsIn(names []name) (object, inner string) {
	for _, n := range names {
		if begins(n.function, own...) || begins(n.function, "std::") {
			continue
		}
		if begins(n.function, "boost::this_fiber::") {
			object, inner = thisFiber, ""
			break
		}
		if !begins(n.function, "boost::fibers::") {
			break
		}
		_, rest, _ := strings.Cut(n.function, "boost::fibers::")
		if i := strings.IndexAny(rest, "<:("); i > 0 {
			object = rest[:i]
		}
		if inner == "" {
			inner = object
		}
	}
	return object, inner
}

// begins reports whether a function's name, without the type that it returns, begins with one of
// the texts.
func begins(function string, texts ...string) bool {
	for _, text := range texts {
		if strings.HasPrefix(function, text) {
			return true
		}
	}
	head := function
	if i := strings.IndexAny(head, "<("); i >= 0 {
		head = head[:i]
	}
	i := strings.LastIndexByte(head, ' ')
	return i >= 0 && begins(function[i+1:], texts...)
}
