package luajit

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/luajit"
	"github.com/sfwalk/sfwalk/language"
)

// Decorate implements [language.Runtime].
func (x *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	r := x.reader(s.Memory)
	defer r.Free()
	d := &language.Decoration{}
	states := map[uint64]*part{} // by state
	for level, f := range s.Frames {
		at, ok := x.machineAt(r, f)
		if !ok {
			continue
		}
		p := states[at.State]
		if p == nil {
			p = &part{}
			states[at.State] = p
			if st, ok := r.stackOf(at); ok {
				p.read(st, s, level)
			}
			if p.why != "" {
				d.Early = "its frames end early: " + p.why
			}
		}
		x.place(r, d, s, level, p.take(at.At))
	}
	r.Err()
	if len(states) == 0 {
		return nil, nil
	}
	if len(s.Frames) > 0 && x.machine.Has(s.Frames[0].PC()) && len(d.Groups) > 0 {
		d.Own = append(d.Own, 0)
	}
	x.hide(d, s)
	return d, nil
}

// machineAt returns the machine's frame that a physical frame is, also while a trace runs in it.
func (x *runtime) machineAt(r *reader, f *frame.Frame) (at luajit.Frame, ok bool) {
	if f.Type() != frame.Normal {
		return at, false
	}
	if !x.machine.Has(f.AddressInBlock()) {
		if m := f.Module(); m != nil {
			if _, _, err := m.PeekImage(); err == nil {
				return at, false
			}
		}
	}
	cfa, ok := f.CFA()
	if !ok {
		return at, false
	}
	at, ok = luajit.FrameAt(r, x.arch.LuaJIT, cfa-x.arch.LuaJIT.Size)
	r.Err()
	return at, ok
}

// part are the calls of one state.
type part struct {
	calls []*call
	stack *stack
	why   string
}

// read reads the calls. level is of the innermost physical frame that the state has.
func (p *part) read(st *stack, s *language.Stack, level int) {
	p.stack = st
	// Of a frame that runs no function of Lua yet, the ones belong to a frame further outward.
	if owner := st.owner(st.inner, st.base-8); owner != 0 {
		for outer := level; outer < len(s.Frames); outer++ {
			if cfa, ok := s.Frames[outer].CFA(); ok && cfa-st.arch.LuaJIT.Size == owner {
				level = outer
				break
			}
		}
		st.At = owner
	}
	st.Err()
	p.why = lost
	st.tops(s, level, func(t top) bool {
		calls, why := st.calls(t)
		if why != broken {
			p.calls, p.why = calls, why
		}
		return why == broken
	})
	if p.why == lost && st.freed() {
		p.why = larger
	}
}

// lost says why there are no calls.
const lost = "the machine is just entering or leaving a function, and which one is not known"

// take returns the calls that run in one of the machine's frames.
func (p *part) take(frame uint64) (list []*call) {
	n := 0
	for n < len(p.calls) && p.calls[n].frame == frame {
		n++
	}
	list, p.calls = p.calls[:n], p.calls[n:]
	return list
}

// place adds the calls that run in the machine's frame at a level.
func (x *runtime) place(r *reader, d *language.Decoration, s *language.Stack, level int, calls []*call) {
	if len(calls) == 0 {
		d.Own = append(d.Own, level)
		return
	}
	state := uint64(0)
	if at, ok := x.machineAt(r, s.Frames[level]); ok {
		state = at.Global
	}
	// A function of C that runs has a frame of its own.
	if c := calls[0]; c.proto == 0 && level > 0 {
		begin, ok := s.Frames[level-1].Function()
		if ok && begin == r.Pointer(c.fn+luajit.FuncC) && begin != 0 {
			f := r.frameOf(state, c)
			a := anchor(s, level-1)
			a.Beside = !x.own(s.Frames[level-1])
			d.Groups = append(d.Groups, language.Group{Anchor: a, Frames: []language.Frame{f}})
			if calls = calls[1:]; len(calls) == 0 {
				d.Own = append(d.Own, level)
				return
			}
		}
		r.Err()
	}
	g := language.Group{Anchor: anchor(s, level)}
	for _, c := range calls {
		g.Frames = append(g.Frames, r.frameOf(state, c))
	}
	d.Groups = append(d.Groups, g)
}

func anchor(s *language.Stack, level int) language.Anchor {
	f := s.Frames[level]
	cfa, _ := f.CFA()
	return language.Anchor{Level: level, PC: f.PC(), CFA: cfa}
}

// own reports whether a physical frame is in the code of the file that has LuaJIT.
func (x *runtime) own(f *frame.Frame) bool {
	return f.Module() == x.module && f.Type() == frame.Normal
}

// hide hides the physical frames that are LuaJIT's own, outward of the innermost function. Where
// the file has nothing but LuaJIT, these are all, else the ones whose names begin as LuaJIT's do.
func (x *runtime) hide(d *language.Decoration, s *language.Stack) {
	if len(d.Groups) == 0 {
		return
	}
	all := isLuas(x.module)
	for level := d.Groups[0].Anchor.Level; level < len(s.Frames); level++ {
		if !x.own(s.Frames[level]) {
			continue
		}
		name := x.symbol(s.Frames[level].AddressInBlock())
		if all || strings.HasPrefix(name, "lua") || strings.HasPrefix(name, "lj_") {
			d.Own = append(d.Own, level)
		}
	}
}

// symbol returns the name of the function that has an address; "" if it has none.
func (x *runtime) symbol(addr uint64) string {
	if x.modules == nil {
		return ""
	}
	m := x.modules.Find(addr)
	if m == nil {
		return ""
	}
	im, bias, err := m.PeekImage()
	if err != nil {
		return ""
	}
	sym, ok := im.Symbols().Find(addr - bias)
	if !ok {
		return ""
	}
	return im.Symbols().Name(sym)
}

// nameless begins the name of a function of C that has none in Lua.
const nameless = "C function "

// frameOf returns the frame of a call.
func (r *reader) frameOf(global uint64, c *call) language.Frame {
	f := language.Frame{Place: c.slot}
	if c.trace != 0 {
		f.Kind = fmt.Sprintf("trace %d", c.trace)
	}
	if c.proto == 0 {
		if f.Kind = "native"; c.trace != 0 {
			f.Kind = fmt.Sprintf("native, trace %d", c.trace)
		}
		f.Function = r.calledBy(c)
		if name := r.namesOf(global)[c.fn]; name != "" && (f.Function == "" || strings.HasSuffix(name, "."+f.Function)) {
			f.Function = name // it tells the module, too
		}
		if f.Function == "" {
			code := r.Pointer(c.fn + luajit.FuncC)
			f.Function = nameless + cmp.Or(r.symbol(code), fmt.Sprintf("%#x", code))
		}
		r.Err()
		return f
	}
	in := r.sourceOf(c.proto)
	f.File = in.file
	if f.Line = r.lineOf(c.proto, c.pc); f.Line == 0 {
		r.Err()
	}
	f.Guess = c.guess && f.Line != 0
	name := ""
	if !in.main {
		name = r.calledBy(c)
	}
	r.Err()
	switch {
	case in.main:
		f.Function = "main chunk"
	case name != "":
		f.Function = name
	default:
		f.Function = fmt.Sprintf("function <%s:%d>", in.file, in.line)
	}
	return f
}
