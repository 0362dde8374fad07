package symbol

import (
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/target"
)

// TailCalls says how a call came to a function other than the one that it went to: by tail calls,
// which are jumps. Its zero value says that nothing is known of tail calls.
type TailCalls struct {
	// Calls are the tail calls that were made for certain, the innermost first.
	Calls []TailCall
	// Callees is how many of Calls are next to each other and to the inner function. Where
	// Ambiguous is set, there may be any number of unknown tail calls behind them.
	Callees int
	// Ambiguous says that there are several ways, maybe around a loop. Calls has the tail calls
	// that they all begin with or end with.
	Ambiguous bool
	// Target is the run-time address of the function to which the call goes; 0 if it is not known,
	// or if the call goes to the inner function itself.
	Target uint64
	// Err says why Calls is empty, although the call went to another function.
	Err error
}

// TailCall is one tail call.
type TailCall struct {
	PC   uint64 // run-time address behind the jump, as GDB has it; of the jump if the compiler does not tell that
	Jump uint64 // an address within the jump: look this one up
	To   uint64 // run-time address of the function that is entered
}

// Bounds on a search for tail calls: how many on one way; how many are looked at, each as often as
// a way leads to it.
const maxTailDepth, maxTailWork = 1 << 9, 1 << 11

// TailCalls says how the call that returns to ret came to the function that is entered at inner (a
// [Location.Entry], or a function's Start if that is not known). It looks at the call sites in the
// debug information, as GDB does: the call goes to one function, whose tail calls go to others.
// Where several ways lead to inner, it tells what they share. It tells nothing if any function on
// the way has no debug information, or a tail call with a target that only the program knows.
func (s *Symbolizer) TailCalls(modules *target.Modules, ret, inner uint64) TailCalls {
	first, known := s.callAt(modules, ret)
	if !known || inner == 0 {
		return TailCalls{}
	}
	search := tailSearch{s: s, modules: modules, inner: inner, jumps: make(map[uint64][]jump), onWay: make(map[uint64]bool)}
	to, ok := search.goes(first)
	if !ok {
		return TailCalls{Err: fmt.Errorf("no debug information says where the call before %#x goes", ret)}
	}
	if to == inner {
		return TailCalls{}
	}
	out := TailCalls{Target: to}
	if out.Err = search.follow(to); out.Err == nil && !search.found {
		out.Err = fmt.Errorf("no tail calls lead from %#x to %#x", to, inner)
	}
	if out.Err != nil {
		return out
	}
	way := search.way
	out.Ambiguous = search.several
	for i := range search.callees {
		out.Calls = append(out.Calls, way[len(way)-1-i].TailCall)
	}
	out.Callees = len(out.Calls)
	if search.callees < len(way) {
		for i := range search.callers {
			out.Calls = append(out.Calls, way[search.callers-1-i].TailCall)
		}
	}
	return out
}

// TailCallsItself reports whether the function that is entered at entry may call itself by tail
// calls, directly or through other functions, as far as the debug information has such calls. It is
// true if one of them has a target that only the program knows.
func (s *Symbolizer) TailCallsItself(modules *target.Modules, entry uint64) bool {
	search := tailSearch{s: s, modules: modules, inner: entry, lenient: true, jumps: make(map[uint64][]jump), onWay: make(map[uint64]bool)}
	return search.follow(entry) != nil || search.found
}

// jump is a tail call, or a call, and where it goes.
type jump struct {
	TailCall
	module *target.Module // that has the jump
	to     destination    // its address is a run-time one
}

// tailSearch looks for all ways from a function to the inner one by tail calls.
type tailSearch struct {
	s       *Symbolizer
	modules *target.Modules
	inner   uint64

	jumps   map[uint64][]jump // by the function's entry
	way     []jump            // the first way that was found
	found   bool
	lenient bool // functions count whose tail calls are not all known
	several bool // there are other ways
	// All ways so far begin with the same callers and end with the same callees: so many of way.
	callers, callees int

	now   []jump          // the way that is being followed
	onWay map[uint64]bool // by PC: the jumps of now
	work  int
}

// follow looks at all ways that go on in the function that is entered at entry. An error says why
// the ways cannot all be known, or that they share nothing.
func (t *tailSearch) follow(entry uint64) error {
	jumps, err := t.from(entry)
	if err != nil {
		return err
	}
	for _, j := range jumps {
		if t.onWay[j.PC] { // around a loop
			continue
		}
		if t.work++; t.work > maxTailWork || len(t.now) == maxTailDepth {
			return fmt.Errorf("too many tail calls lead on from %#x", entry)
		}
		to, ok := t.goes(j)
		if !ok {
			return fmt.Errorf("no debug information says where the tail call before %#x goes", j.PC)
		}
		j.To = to
		t.now, t.onWay[j.PC] = append(t.now, j), true
		if to == t.inner {
			err = t.arrived()
		} else {
			err = t.follow(to)
		}
		t.now = t.now[:len(t.now)-1]
		delete(t.onWay, j.PC)
		if err != nil {
			return err
		}
	}
	return nil
}

// arrived notes what the way that has led to the inner function shares with the others.
func (t *tailSearch) arrived() error {
	if !t.found {
		t.found, t.way = true, slices.Clone(t.now)
		t.callers, t.callees = len(t.way), len(t.way)
		return nil
	}
	t.several = true
	same := func(n int, at func(way []jump, i int) uint64) int {
		n = min(n, len(t.now))
		for i := range n {
			if at(t.way, i) != at(t.now, i) {
				return i
			}
		}
		return n
	}
	t.callers = same(t.callers, func(way []jump, i int) uint64 { return way[i].PC })
	t.callees = same(t.callees, func(way []jump, i int) uint64 { return way[len(way)-1-i].PC })
	if t.callers+t.callees == 0 {
		return fmt.Errorf("several ways of tail calls lead to %#x, which share nothing", t.inner)
	}
	return nil
}

// goes returns the run-time address of the function to which a jump goes.
func (t *tailSearch) goes(j jump) (entry uint64, ok bool) {
	if j.to.addr != nowhere {
		return j.to.addr, true
	}
	if j.to.name == "" {
		return 0, false
	}
	return t.s.functionNamed(t.modules, j.module, j.to.name, t.inner)
}

// from returns the tail calls of the function that is entered at entry.
func (t *tailSearch) from(entry uint64) (list []jump, err error) {
	if list, ok := t.jumps[entry]; ok {
		return list, nil
	}
	m := t.modules.Find(entry)
	if !t.lenient {
		err = fmt.Errorf("no debug information describes the function at %#x", entry)
	}
	t.s.withDWARF(m, func(d *debugInfo, bias uint64) {
		at, ok := d.functionAt(entry - bias)
		if !ok {
			return
		}
		b := at.body()
		if b == nil || b.functions[0].enters != entry-bias {
			return
		}
		all := at.d.allJumps(at.u, &b.functions[0])
		switch {
		case !all && t.lenient:
			err = nil
			return
		case !all:
			err = fmt.Errorf("not all tail calls of the function at %#x are in the debug information", entry)
			return
		case len(b.jumps) > maxTailWork-t.work:
			err = fmt.Errorf("too many tail calls are in the function at %#x", entry)
			return
		}
		err, list = nil, make([]jump, len(b.jumps)) // the question may be asked twice
		for n, i := range b.jumps {
			list[n] = newJump(m, bias, at.d, at.u, &b.sites[i])
		}
	})
	t.work += len(list)
	if err == nil {
		t.jumps[entry] = list
	}
	return list, err
}

// callAt returns the call that returns to ret. It is not known unless the debug information
// describes it.
func (s *Symbolizer) callAt(modules *target.Modules, ret uint64) (call jump, known bool) {
	m := modules.Find(ret - 1)
	s.withDWARF(m, func(d *debugInfo, bias uint64) {
		known = false
		at, ok := d.functionAt(ret - 1 - bias)
		if !ok {
			return
		}
		if site, ok := at.d.body(at.u, at.c, at.i).site(ret - bias); ok {
			call, known = newJump(m, bias, at.d, at.u, &site), true
		}
	})
	return call, known
}

func newJump(m *target.Module, bias uint64, d *debugInfo, u *unit, s *callSite) jump {
	j := jump{TailCall: TailCall{PC: s.pc + bias, Jump: s.jump + bias}, module: m, to: d.destination(u, s)}
	if j.to.addr != nowhere {
		j.to.addr += bias
	}
	return j
}

// withDWARF asks the DWARF of a module a question, if there is any: once more if others took its
// room.
func (s *Symbolizer) withDWARF(m *target.Module, question func(d *debugInfo, bias uint64)) {
	if m == nil {
		return
	}
	mod := s.tables(m).elf
	if mod.image == nil {
		return
	}
	if x := mod.dwarf(); x != nil {
		x.ask(func(d *debugInfo) { question(d, mod.bias) })
	}
}

// functionNamed returns the run-time address of a function by its symbol, for code of the module
// from. If it is likely to be the function at likely, it looks there first. Then it looks in the
// module itself, and in the others in the order of their addresses; likely counts if it is one of
// several in a module.
func (s *Symbolizer) functionNamed(modules *target.Modules, from *target.Module, name string, likely uint64) (entry uint64, ok bool) {
	if m := modules.Find(likely); m != nil && s.functionBegins(m, likely, name, m == from) {
		return likely, true
	}
	list, ok := s.symbolsNamed(from, name, true)
	for _, m := range modules.All() {
		if !ok || len(list) > 0 {
			break
		}
		if m != from {
			list, ok = s.symbolsNamed(m, name, false)
		}
	}
	switch {
	case !ok || len(list) == 0:
		return 0, false
	case slices.Contains(list, likely):
		return likely, true
	}
	return list[0], true
}
