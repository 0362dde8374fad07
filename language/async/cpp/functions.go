package cpp

import (
	"strings"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// coroutine is a function that is a coroutine. Compilers make several functions of it: one that is
// called first, one that resumes it at any point, and one or two that destroy it.
type coroutine struct {
	module *target.Module
	gcc    bool // GCC has compiled it, not Clang
	resume span
	begin  span // the function that is called first, if it has code of the body: Clang's; empty if it is inlined everywhere

	name   string  // as it is shown; "" until it is known
	layout *layout // nil until it is known
}

// span is a range of code, from lo on to below hi.
type span struct{ lo, hi uint64 }

func (s span) has(addr uint64) bool { return addr-s.lo < s.hi-s.lo }

// Names of the functions that compilers make: what they append to the name of the coroutine, or of
// its frame's type.
const (
	actor   = ".actor"   // GCC: resumes
	resume  = ".resume"  // Clang
	destroy = ".destroy" // both
	cleanup = ".cleanup" // Clang: destroys a coroutine whose frame is within its caller's
)

// Bounds of the symbols that are read.
const (
	mostCoroutines = 1 << 16
	mostName       = 1 << 16 // bytes of a name
)

// personality is a function of C++'s library that each module of C++ needs.
var personality = elf.Seldom("__gxx_personality_v0")

// findIn finds the coroutines of a module by its symbols, or its debug file's.
func (r *program) findIn(p *language.Process, m *target.Module) {
	im, bias, err := m.PeekImage()
	if err != nil || im == nil || !m.IsProgram() && !im.MayHaveSymbol(personality) {
		return
	}
	if r.add(m, im, bias) {
		return
	}
	if debug := p.Symbols().DebugFile(m); debug != nil {
		r.add(m, debug, bias)
	}
}

// add adds the coroutines that an image has symbols for, and reports whether there are some.
func (r *program) add(m *target.Module, im *elf.Image, bias uint64) (some bool) {
	symbols := im.Symbols()
	made := map[string][]*coroutine{} // by the name that the compiler has appended to
	type named struct {
		base string
		at   span
	}
	var destroys []named
	for i := range symbols.Len() {
		s := symbols.At(i)
		name, n := symbols.Begin(s, mostName)
		if n != len(name) {
			continue
		}
		base, what := split(name)
		at := span{s.Addr + bias, s.Addr + bias + s.Size}
		switch what {
		case actor, resume:
			if len(r.coroutines) == mostCoroutines {
				return true
			}
			c := &coroutine{module: m, gcc: what == actor, resume: at}
			if what == resume {
				if list := im.Lookup(base, 1); len(list) == 1 {
					c.begin = span{list[0].Addr + bias, list[0].Addr + list[0].Size + bias}
				}
			}
			r.coroutines[at.lo], some = c, true
			made[base] = append(made[base], c)
		case destroy, cleanup:
			destroys = append(destroys, named{base, at})
		}
	}
	for _, d := range destroys {
		if c := nearest(made[d.base], d.at.lo); c != nil {
			r.destroys[d.at.lo] = append(r.destroys[d.at.lo], c)
		}
	}
	return some
}

// nearest returns the coroutine whose code is nearest to an address: functions of one file may have
// the same name in another file. It is nil if there is none.
func nearest(list []*coroutine, at uint64) (best *coroutine) {
	away := ^uint64(0)
	for _, c := range list {
		if n := max(c.resume.lo, at) - min(c.resume.lo, at); n < away {
			best, away = c, n
		}
	}
	return best
}

// split splits the name of a function that a compiler has made: the name to which it has appended,
// and what; "" for a name that has nothing of this. Link-time optimisation appends more.
func split(name string) (base, what string) {
	for {
		dot := strings.LastIndexByte(name, '.')
		if dot <= 0 {
			return name, ""
		}
		switch end := name[dot:]; {
		case end == actor || end == resume || end == destroy || end == cleanup:
			return name[:dot], end
		case end == ".lto_priv" || end == ".llvm" || strings.Trim(end[1:], "0123456789") == "":
			name = name[:dot]
		default:
			return name, ""
		}
	}
}

// nameOf returns the name of a coroutine, as GDB shows a function's.
func (r *program) nameOf(c *coroutine) string {
	if c.name == "" {
		at := r.symbols.Locate(r.modules, c.resume.lo)
		c.name = at[len(at)-1].Function
		if l := r.layoutOf(c); l.linkage != "" {
			c.name = symbol.DemangleFunction(l.linkage)
		}
	}
	return c.name
}
