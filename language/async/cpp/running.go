package cpp

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// run is where a coroutine runs.
type run struct {
	thread int
	point
}

// running finds the coroutines that threads run: a frame of the function has the address of its
// coroutine, in a register or on the stack.
func (t *tasks) running(threads []target.Thread) {
	if t.walk == nil || len(t.list) == 0 {
		return
	}
	codes := t.codes()
	for _, th := range threads {
		frames, err := t.walk(th)
		if err != nil {
			continue
		}
		for _, f := range frames {
			c := codes.of(f.AddressInBlock())
			if c == nil {
				continue
			}
			list := t.within(f, c)
			if len(list) == 1 && t.list[list[0]].runs == nil {
				t.list[list[0]].runs = &run{th.ID(), t.lineAt(f.AddressInBlock())}
			}
			for _, i := range list {
				if len(list) > 1 {
					t.list[i].maybe = th.ID()
				}
			}
		}
	}
}

// within returns the numbers of the coroutines of which a frame may be.
func (t *tasks) within(f *frame.Frame, c *coroutine) []int {
	if i, ok := t.described(f, c); ok {
		return []int{i}
	}
	return t.around(f, c)
}

// described finds the coroutine of a frame by debug information, which has the argument of the
// function that resumes (GCC), or the promise (Clang). ok is false if that is kept nowhere.
func (t *tasks) described(f *frame.Frame, c *coroutine) (i int, ok bool) {
	locations := t.symbols.Locate(t.modules, f.AddressInBlock())
	variables, err := t.types.Frame(&logical.Frame{
		Location: locations[len(locations)-1], Type: f.Type(), Level: f.Level, PC: f.PC(), AddressInBlock: f.AddressInBlock(), Physical: f,
	}, t.memory)
	if err != nil {
		return -1, false
	}
	defer variables.Release()
	for _, v := range append(variables.Arguments, variables.Locals...) {
		at := uint64(0)
		switch v.Name {
		case "frame_ptr":
			x := v.Value()
			n, err := x.Int()
			if err != nil {
				continue
			}
			at = uint64(n)
		case "__promise":
			x := v.Value()
			if x.Place != value.InMemory {
				continue
			}
			at = x.Addr - t.layoutOf(c).promise.offset
		default:
			continue
		}
		if i := t.holder(at); i >= 0 && t.list[i].at == at && t.list[i].of == c {
			return i, true
		}
	}
	return -1, false
}

// around finds the coroutine of a frame by its address, which a register has that functions
// preserve, or the frame has it on the stack. Old values may lie there, too: it returns all that it
// can be.
func (t *tasks) around(f *frame.Frame, c *coroutine) (list []int) {
	look := func(word uint64) {
		if i := t.holder(word); i >= 0 && t.list[i].at == word && t.list[i].of == c && t.list[i].runs == nil && !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	for _, reg := range append(slices.Clone(t.arch.OtherCalleeSaved), t.arch.FP) {
		if v := f.Register(reg); v.Known() {
			look(v.Bits)
		}
	}
	sp := f.Register(t.arch.SP)
	cfa, ok := f.CFA()
	if len(list) == 1 || !ok || !sp.Known() || cfa-sp.Bits > mostFrame {
		return list
	}
	for at := sp.Bits &^ 7; at < cfa && t.OK(); at += 8 {
		look(t.Pointer(at))
	}
	t.Err()
	return list
}

// code is a function of a coroutine.
type code struct {
	span
	coroutine *coroutine
}

// codes are such functions, by ascending address.
type codes []code

// codes returns the functions in which coroutines run.
func (r *program) codes() (list codes) {
	for _, c := range r.coroutines {
		for _, s := range [...]span{c.resume, c.begin} {
			if s.lo < s.hi {
				list = append(list, code{s, c})
			}
		}
	}
	slices.SortFunc(list, func(a, b code) int { return cmp.Compare(a.lo, b.lo) })
	return list
}

// of returns the coroutine whose code is at an address; nil if there is none.
func (list codes) of(pc uint64) *coroutine {
	i, is := slices.BinarySearchFunc(list, pc, func(c code, pc uint64) int { return cmp.Compare(c.lo, pc) })
	if !is {
		i--
	}
	if i < 0 || !list[i].has(pc) {
		return nil
	}
	return list[i].coroutine
}

// begins reports whether a coroutine is suspended before its body has begun. GCC's first point is
// number 2: it is there even if it is never waited at.
func (t *tasks) begins(x *object) bool {
	l := t.layoutOf(x.of)
	if l.index.size == 0 {
		return false
	}
	if x.of.gcc {
		return x.number <= 2
	}
	p, ok := t.pointsOf(x.of)[x.number]
	return ok && x.number == 0 && p == t.opens(x.of)
}
