package rust

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Bounds of what is read of stacks.
const (
	mostPlaces = 1 << 16 // addresses of code of which the functions are kept
	mostFrame  = 1 << 20 // bytes of a frame in which a future is looked for
)

// called is a function that runs in a frame: its own one, or one that is inlined.
type called struct {
	name   string      // with its scope, without generic arguments
	future *value.Type // of a function that waits for a future: the future's type; nil for others
}

// blocking are the functions that wait for a future, which is in their own part of the stack.
var blocking = map[string]bool{
	"tokio::runtime::park::CachedParkThread::block_on":                   true,
	"tokio::runtime::scheduler::current_thread::CurrentThread::block_on": true,
	"tokio::runtime::scheduler::current_thread::CoreGuard::block_on":     true,
	"async_io::driver::block_on":                                         true,
	"futures_lite::future::block_on":                                     true,
	"futures_executor::local_pool::block_on":                             true,
	"futures_executor::local_pool::LocalPool::run_until":                 true,
}

// waits reports whether debug information has a function that waits for a future.
func (r *program) waits(work *int) bool {
	s := symbol.Search{Name: "block_on<", Begins: true, Tag: dwarf.TagSubprogram, Most: mostBodies, Work: work}
	hits, _ := s.InModule(r.symbols, r.module) // what was found counts
	if slices.ContainsFunc(hits, func(h symbol.Hit) bool { return blocking[plain(h.Scope)+"block_on"] }) {
		return true
	}
	s = symbol.Search{Name: "LocalPool", Work: work}
	hits, _ = s.InModule(r.symbols, r.module)
	return slices.ContainsFunc(hits, func(h symbol.Hit) bool { return h.Scope+"LocalPool" == poolName })
}

// calledAt returns the functions that run at an address, the innermost first.
func (r *program) calledAt(pc uint64) []called {
	if list, ok := r.places[pc]; ok {
		return list
	}
	if len(r.places) >= mostPlaces {
		clear(r.places)
	}
	var list []called
	scopes, _, _ := r.symbols.Scopes(r.modules, pc) // what can be read counts
	for i := range slices.Backward(scopes) {
		e := scopes[i].Entry
		if e.Tag != dwarf.TagSubprogram && e.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		origins := r.origins(e)
		for _, o := range origins {
			if name := o.Text(dwarf.AttrName); name != "" {
				c := called{name: plain(o.Prefix() + name)}
				base, _, _ := strings.Cut(c.name, "::{closure#")
				if blocking[base] {
					c.name, c.future = base, r.futureFor(origins)
				}
				list = append(list, c)
				break
			}
		}
	}
	r.places[pc] = list
	return list
}

// futureFor returns the type of the future for which a function waits: its generic argument.
func (r *program) futureFor(origins []*symbol.Entry) *value.Type {
	for _, o := range origins {
		kids, err := o.Children()
		if err != nil {
			continue
		}
		for _, k := range kids {
			if k.Tag != dwarf.TagTemplateTypeParameter {
				continue
			}
			if name := k.Text(dwarf.AttrName); name == "F" || name == "Fut" || strings.HasPrefix(name, "impl ") {
				return r.types.TypeOf(k).Strip()
			}
		}
	}
	return nil
}

// stack looks at what a thread does: it may wait for a future that is no task, and run tasks.
func (t *tasks) stack(th target.Thread) {
	if t.walk == nil {
		return
	}
	frames, _ := t.walk(th) // those up to a failure count
	inner := map[string]bool{}
	var b *blocked
	pool := false // the thread runs a LocalPool, which is not found yet
	for _, f := range frames {
		if f.Module() != t.module {
			continue
		}
		for _, c := range t.calledAt(f.AddressInBlock()) {
			switch {
			case c.future != nil && !strings.HasPrefix(c.future.FullName(), "core::pin::Pin<&mut "): // which is a future further out
				if b == nil || b.future.FullName() != c.future.FullName() {
					t.blocked(b)
					b = &blocked{thread: th.ID(), future: c.future, runs: inner[t.bodyOf(c.future)]}
					clear(inner)
				}
				b.frames = append(b.frames, f)
			case c.name == pollName || c.name == harnessName:
				t.polls(th, f)
			case c.name == runName && t.async != nil:
				t.runsAsync(th, f)
			}
			pool = pool || ofPool(c.name)
			inner[c.name] = true
		}
		if pool && t.localPool(f) {
			pool = false
		}
	}
	t.blocked(b)
	if pool {
		t.fail("where the LocalPool is that thread %d runs is not known", th.ID())
	}
}

// bodyOf returns the name of the function that runs when a future is polled, if that is an async
// function or block; else "".
func (t *tasks) bodyOf(future *value.Type) string {
	s := t.shapeOf(future)
	for range mostNested {
		switch {
		case s.way == byMachine:
			return strings.Replace(plain(s.typ.FullName()), "_env#", "#", 1)
		case s.way == byParts && len(s.parts) == 1 && s.choice == nil:
			s = s.parts[0].of
		case s.way == byPointer:
			s = t.shapeOf(s.to)
		}
	}
	return ""
}

// blocked is a future for which a thread waits.
type blocked struct {
	thread int
	future *value.Type
	frames []*frame.Frame // the ones in which it may be
	runs   bool           // the thread polls it
}

// candidate is what may be such a future.
type candidate struct {
	at      uint64
	typ     *value.Type
	machine uint64 // the address of the first async function in it
	deep    int    // how many async functions are there that wait for each other
	pointed bool   // a register, or a word of the frame, has the address
}

// blocked lists a future for which a thread waits. Debug information does not tell where on the
// stack it is, for the variable is one that the compiler may move. The frame has little else: there
// is one place in it that can be a future of the type which waits. A compiler that has all of a
// future's code within the frame may keep parts of it in registers, and leave other ones out; so
// one number of a state tells too little.
func (t *tasks) blocked(b *blocked) {
	if b == nil {
		return
	}
	if len(t.list) == mostTasks {
		t.fail("there are more than %d tasks", mostTasks)
		return
	}
	x := language.Task{Kind: "block_on", State: "waiting", Thread: b.thread, Frames: []language.Frame{{Function: t.nameOf(b.future)}}}
	x.ID, _ = b.frames[len(b.frames)-1].CFA()
	if b.runs {
		x.State, x.Frames[0].Kind = "running", "running"
		t.list = append(t.list, x)
		return
	}
	list := t.candidates(b)
	list = slices.DeleteFunc(list, func(c candidate) bool { return !c.pointed && (len(list) > 1 || c.deep < 2) })
	if len(list) != 1 {
		if t.shapeOf(b.future).leads() {
			x.Early = "where the future is on the thread's stack is not known"
		}
		t.list = append(t.list, x)
		return
	}
	c := list[0]
	if t.seen[c.machine] {
		return
	}
	t.seen[c.machine] = true
	x.ID = c.machine
	i := len(t.list)
	t.list = append(t.list, x)
	t.chain(i, c.at, c.typ)
}

// candidates finds the places in frames that have a suspended future.
func (t *tasks) candidates(b *blocked) (list []candidate) {
	pointed := map[uint64]bool{}
	add := func(at uint64, typ *value.Type) {
		machine, deep := t.suspended(at, typ)
		if deep == 0 || len(list) == mostDeep || slices.ContainsFunc(list, func(c candidate) bool { return c.machine == machine }) {
			return
		}
		list = append(list, candidate{at, typ, machine, deep, pointed[machine]})
	}
	size, ok := b.future.SizeOf()
	if !ok || size == 0 {
		return nil
	}
	step := max(b.future.Alignment(false), 1)
	s := t.shapeOf(b.future)
	for s.way == byParts && len(s.parts) == 1 && s.choice == nil && s.parts[0].offset == 0 {
		s = s.parts[0].of
	}
	for _, f := range b.frames {
		sp := f.Register(t.arch.SP)
		cfa, ok := f.CFA()
		if !ok || !sp.Known() || cfa < sp.Bits || cfa-sp.Bits > mostFrame {
			continue
		}
		for at := (sp.Bits + 7) &^ 7; at+8 <= cfa; at += 8 {
			pointed[t.Pointer(at)] = true
		}
		t.Err()
		for _, reg := range append(slices.Clone(t.arch.OtherCalleeSaved), t.arch.FP) {
			if v := f.Register(reg); v.Known() {
				pointed[v.Bits] = true
				if s.way == byPointer && size == 8 { // it may be there, and nowhere else
					add(v.Bits, s.to)
				}
			}
		}
		for at := (sp.Bits + step - 1) / step * step; at+size <= cfa && t.step(); at += step {
			add(at, b.future)
		}
	}
	return list
}

// suspended reports whether there may be a future at an address that waits: each async function on
// the way is at one of its places. machine is the address of the first one, and deep how many there
// are; 0 if there can be none.
func (t *tasks) suspended(at uint64, typ *value.Type) (machine uint64, deep int) {
	for range mostDeep {
		s := t.shapeOf(typ)
		if !t.step() {
			break
		}
		if s.way != byMachine {
			var list []found
			t.parts(at, s, &list, 0)
			if err := t.Err(); err != nil {
				return 0, 0
			}
			list = slices.DeleteFunc(list, func(f found) bool { return f.way == byLocalSet })
			if len(list) == 1 && list[0].typ != nil && (list[0].at != at || list[0].typ != typ) {
				at, typ = list[0].at, list[0].typ
				continue
			}
			break
		}
		n := uint64(0)
		if s.machine.size > 0 {
			n = t.Uint(at+s.machine.offset, s.machine.size)
		}
		x := s.machine.state(n)
		if err := t.Err(); err != nil || x == nil || !strings.HasPrefix(x.name, "Suspend") {
			return 0, 0
		}
		if deep++; deep == 1 {
			machine = at
		}
		if x.typ == nil {
			break
		}
		at, typ = at+x.awaitee.offset, x.typ
	}
	return machine, deep
}
