package lua

import (
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/trad"
)

// placer finds the places of calls in a stack.
type placer struct {
	r     *runtime
	stack *language.Stack
	begin []uint64 // by level: where the frame's function begins; 0 if that is not known, or the frame is no usual one
	own   []bool   // by level: it is Lua's own code
	next  int      // the level from which the next state's frames may be

	sources map[uint64]source // by function of Lua: a recursion has the same ones
	lines   map[[2]uint64]int // by function of Lua and instruction
	bytes   int               // of the names of files

	called map[[2]uint64]string // what instructions call, by function of Lua and instruction
	steps  int                  // instructions that were looked at for that
}

// source is where a function of Lua begins.
type source struct {
	file string
	line int
}

// mostBytes bounds the names of files of one stack. The functions of more files have no names.
const mostBytes = 16 << 20

// leastExecutes is how large the function that executes Lua's code is at least, bytes.
const leastExecutes = 2 << 10

func (r *runtime) newPlacer(s *language.Stack) *placer {
	p := &placer{r: r, stack: s, sources: map[uint64]source{}, lines: map[[2]uint64]int{}, called: map[[2]uint64]string{}, begin: make([]uint64, len(s.Frames)), own: make([]bool, len(s.Frames))}
	for level, f := range s.Frames {
		if f.Type() == frame.Normal {
			p.begin[level], _ = f.Function()
			p.own[level] = r.isOwn(f)
		}
	}
	return p
}

// executes returns where the function that executes Lua's code begins: a symbol tells, or else
// it is the largest one of Lua's that has called something and is no function for Lua to call.
func (p *placer) executes(functions map[uint64]bool) uint64 {
	if at := p.r.executes.Load(); at != 0 {
		return at
	}
	for _, s := range p.r.image.Lookup("luaV_execute", 1) {
		p.r.executes.Store(s.Addr + p.r.bias)
		return s.Addr + p.r.bias
	}
	at, largest := uint64(0), uint64(leastExecutes)
	for level, f := range p.stack.Frames {
		if !p.own[level] || functions[p.begin[level]] {
			continue
		}
		if lo, hi, _, ok := unwindtables.CFIOf(p.r.module, p.r.arch).Function(f.AddressInBlock()); ok && hi-lo > largest {
			at, largest = p.begin[level], hi-lo
		}
	}
	return at
}

// run is what one physical frame runs: a function of C, or functions of Lua that call each other.
type run struct {
	calls []call
	begin uint64 // of the physical frame's function
}

// mostRuns bounds what is compared: the runs of one state, and frames that may have them. Lua
// allows 200 nested calls of C.
const mostRuns = 1 << 10

// place returns the groups of one state's calls. Its part of the C stack ends at the address
// outer, if that is not 0; jump is on the stack where the state's outermost call was protected.
func (p *placer) place(m reader, calls []call, g globals, outer, jump uint64) (groups []language.Group) {
	functions := map[uint64]bool{}
	for i := range calls {
		if calls[i].c != 0 {
			functions[calls[i].c] = true
		}
	}
	executes := p.executes(functions)
	var runs []run
	for i := range calls {
		c := &calls[i]
		begins := i == 0 || c.c != 0 || calls[i-1].c != 0 || calls[i-1].fresh
		if begins {
			at := c.c
			if at == 0 {
				at = executes
			}
			runs = append(runs, run{begin: at})
		}
		last := &runs[len(runs)-1]
		last.calls = append(last.calls, *c)
	}
	var levels []int
	end := p.next
	for level := p.next; level < len(p.stack.Frames); level++ {
		cfa, ok := p.stack.Frames[level].CFA()
		if end = level + 1; p.begin[level] != 0 && (p.begin[level] == executes && executes != 0 || functions[p.begin[level]]) {
			levels = append(levels, level)
		}
		if outer != 0 && ok && cfa > outer {
			break
		}
	}
	p.next = end
	runs, levels = runs[:min(len(runs), mostRuns)], levels[:min(len(levels), mostRuns)]
	at := p.match(runs, levels)
	var pending []language.Frame // innermost frames, whose function of C is just about to begin
	for i, ru := range runs {
		frames := p.frames(m, ru, g, at[i])
		last := len(groups) - 1
		switch {
		case at[i] >= 0:
			a := p.anchor(at[i])
			a.Beside = !p.own[at[i]]
			groups = append(groups, language.Group{Anchor: a, Frames: append(pending, frames...)})
			pending = nil
		case last >= 0: // a coroutine that was resumed has the callers of its innermost functions on the heap alone
			groups[last].Frames = append(groups[last].Frames, frames...)
		default:
			pending = append(pending, frames...)
		}
	}
	if len(pending) > 0 {
		a := p.holding(jump)
		groups = append(groups, language.Group{Anchor: a, Frames: pending})
	}
	return groups
}

func (p *placer) anchor(level int) language.Anchor {
	f := p.stack.Frames[level]
	cfa, _ := f.CFA()
	return language.Anchor{Level: level, PC: f.PC(), CFA: cfa}
}

// holding returns the anchor of the frame whose part of the stack has an address, or else of Lua's
// innermost one.
func (p *placer) holding(addr uint64) language.Anchor {
	for level, f := range p.stack.Frames {
		cfa, ok := f.CFA()
		if ok && addr != 0 && cfa > addr || addr == 0 && p.own[level] {
			a := p.anchor(level)
			a.Beside = true
			return a
		}
	}
	return language.Anchor{Level: -1}
}

// match returns the level of each run, -1 for none: the longest common sequence of what runs and
// what is on the stack, for either may lack some. The innermost that fits is taken.
func (p *placer) match(runs []run, levels []int) []int {
	width := len(levels) + 1
	longest := make([]uint16, (len(runs)+1)*width)
	for i := len(runs) - 1; i >= 0; i-- {
		for j := len(levels) - 1; j >= 0; j-- {
			n := max(longest[(i+1)*width+j], longest[i*width+j+1])
			if runs[i].begin == p.begin[levels[j]] {
				n = max(n, longest[(i+1)*width+j+1]+1)
			}
			longest[i*width+j] = n
		}
	}
	at := make([]int, len(runs))
	for i, j := 0, 0; i < len(runs); i++ {
		at[i] = -1
		for ; j < len(levels); j++ {
			here := longest[i*width+j]
			if runs[i].begin == p.begin[levels[j]] && here == longest[(i+1)*width+j+1]+1 {
				at[i] = levels[j]
				j++
				break
			}
			if here == longest[(i+1)*width+j] { // this run has no frame
				break
			}
		}
	}
	return at
}

// frames returns the frames of a run at a level, -1 if it has none.
func (p *placer) frames(m reader, ru run, g globals, level int) (list []language.Frame) {
	for i := range ru.calls {
		c := &ru.calls[i]
		f := language.Frame{Place: c.at}
		if c.c != 0 {
			f.Function, f.Kind = p.r.nameOf(c, g, p.calledBy(m, c), "", 0), "native"
			if name := p.r.symbol(c.c); name != "" && strings.HasPrefix(f.Function, nameless) {
				f.Function = nameless + name
			}
		} else {
			in := p.sourceOf(m, c.proto)
			f.File, f.Function = in.file, p.r.nameOf(c, g, p.calledBy(m, c), in.file, in.line)
			pc := c.pc
			if i == 0 && level >= 0 && level == p.firstOf(level) {
				pc, f.Guess = p.counter(m, c, level)
			}
			f.Line = p.lineOf(m, c.proto, pc)
		}
		if c.tail {
			f.Kind = strings.TrimPrefix(f.Kind+" tail-called", " ")
		}
		m.Err()
		list = append(list, f)
	}
	return list
}

// sourceOf returns where a function of Lua begins.
func (p *placer) sourceOf(m reader, proto uint64) source {
	in, known := p.sources[proto]
	if !known && p.bytes < mostBytes {
		in.file, in.line = p.r.source(m, proto)
		p.bytes += len(in.file)
		p.sources[proto] = in
	}
	return in
}

// lineOf returns the line of a function's instruction before pc.
func (p *placer) lineOf(m reader, proto, pc uint64) int {
	line, known := p.lines[[2]uint64{proto, pc}]
	if !known {
		line = p.r.lineOf(m, proto, pc)
		p.lines[[2]uint64{proto, pc}] = line
	}
	return line
}

// firstOf returns the level of the innermost frame that executes, or runs a function for Lua to
// call: of it alone the call's saved address may be an older one.
func (p *placer) firstOf(level int) int {
	executes := p.begin[level]
	for i := range level {
		if p.begin[i] == executes {
			return i
		}
	}
	return level
}

// counter returns the address of the next instruction of the function that the frame at a level
// executes. It is in a register, or in the frame; the call has the one that was noted when
// something was last called that may fail. guess says that only that is known.
func (p *placer) counter(m reader, c *call, level int) (pc uint64, guess bool) {
	code, size := m.Pointer(c.proto+m.ProtoCode), m.Uint(c.proto+m.ProtoSize, 4)
	if m.Err() != nil || size > mostCode {
		return c.pc, true
	}
	if m.Version == 502 || m.Version == 503 {
		return c.pc, false // these note each instruction
	}
	f := p.stack.Frames[level]
	found, several := uint64(0), false
	for reg := range trad.Reg(len(p.stack.Arch.Regs)) {
		v := f.Register(reg)
		if !p.stack.Arch.CalleeSaved.Has(reg) || !v.Known() || v.Bits-code-1 >= 4*size || v.Bits%4 != 0 {
			continue
		}
		several = several || found != 0 && found != v.Bits
		found = v.Bits
	}
	if found != 0 && !several {
		return found, false
	}
	return c.pc, level == 0
}

// hidden returns the levels of physical frames that are Lua's own. Where the file has nothing
// but Lua, these are all outside of the innermost function, else the ones whose names begin with
// "lua". What that function has called stays.
func (p *placer) hidden(groups []language.Group) (levels []int) {
	if len(groups) == 0 {
		return nil
	}
	all := isLuas(p.r.module)
	for level := max(groups[0].Anchor.Level, 0); level < len(p.own); level++ {
		if p.own[level] && (all || strings.HasPrefix(p.nameAt(level), "lua")) {
			levels = append(levels, level)
		}
	}
	return levels
}

func (p *placer) nameAt(level int) string {
	return p.r.symbol(p.stack.Frames[level].AddressInBlock())
}

// symbol returns the name of the function that has an address; "" if it has none.
func (r *runtime) symbol(addr uint64) string {
	if r.modules == nil {
		return ""
	}
	m := r.modules.Find(addr)
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
