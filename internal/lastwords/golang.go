package lastwords

import (
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// goProgram is a module with Go's runtime.
type goProgram struct {
	*goruntime.Program
	module *target.Module
	memory *memory
	data   []uint64 // its struct moduledata, as addresses of the file
}

// ofGo returns the words of Go's runtime: a fatal error, or the panics of the goroutine, the first
// one first, as the runtime prints them.
func (f *finder) ofGo() []Words {
	for i := range f.Frames {
		x := &f.Frames[i]
		if len(x.Functions) == 0 {
			continue
		}
		name := x.Functions[len(x.Functions)-1]
		fatal := name == "runtime.throw" || name == "runtime.fatal"
		if !fatal && name != "runtime.gopanic" {
			continue
		}
		p := f.goProgram(x.PC)
		if p == nil {
			continue
		}
		if fatal {
			if text, ok := p.thrown(x, name); ok {
				return []Words{{Text: "fatal error: " + text, From: "the frame of " + name}}
			}
			return nil
		}
		if g := f.goroutineAt(p, x.CFA); g != 0 {
			layout, _ := p.Layout()
			if text, ok := p.panics(g, layout.M); ok {
				return []Words{{Text: text, From: "the panics of Go's runtime"}}
			}
		}
		return nil
	}
	return nil
}

// goProgram returns the program whose code is at a PC; nil if it is none of a known release.
func (f *finder) goProgram(pc uint64) *goProgram {
	m := f.Target.Modules().Find(pc)
	if m == nil || f.arch.PtrSize != 8 {
		return nil
	}
	p, err := goruntime.Open(m, f.arch)
	if err != nil {
		return nil
	}
	return &goProgram{Program: p, module: m, memory: f.memory, data: goruntime.ModuleData(m)}
}

// goroutineAt returns the struct g on whose stack an address is; 0 if it is not found. A register
// has the struct g of the code that runs, or the thread's own storage does. From there, the
// thread's struct m leads to the goroutine that it runs.
func (f *finder) goroutineAt(p *goProgram, addr uint64) uint64 {
	l, ok := p.Layout()
	if !ok {
		return 0
	}
	rules := f.arch.Go
	var own []uint64
	for i := range f.Frames {
		r := f.Frames[i].Registers
		if r == nil {
			continue
		}
		for _, in := range []trad.Reg{rules.InGo, rules.G} {
			if in == arch.NoReg {
				continue
			}
			if g, known := r.Get(in); known && g != 0 && g%8 == 0 && !slices.Contains(own, g) {
				own = append(own, g)
			}
		}
	}
	if len(f.Frames) > 0 && f.Frames[0].Registers != nil && rules.G == arch.NoReg {
		if at, known := f.Frames[0].Registers.Get(rules.ThreadBase); known {
			if l.GBase != 0 {
				offset, _ := f.word(l.GBase + p.Bias)
				at += offset
			}
			if g, ok := f.word(at + uint64(l.G)); ok {
				own = append(own, g)
			}
		}
	}
	const most = 64
	for _, g := range own[:min(len(own), most)] {
		if f.onStack(g, addr) {
			return g
		}
		m, _ := f.word(g + uint64(l.M))
		if curg, ok := f.word(m + uint64(l.Curg)); ok && curg != g && f.onStack(curg, addr) {
			if of, _ := f.word(curg + uint64(l.M)); of == m {
				return curg
			}
		}
	}
	return 0
}

// onStack reports whether an address is on the stack of a struct g.
func (f *finder) onStack(g, addr uint64) bool {
	lo, ok := f.word(g + goruntime.StackLo)
	hi, also := f.word(g + goruntime.StackHi)
	return ok && also && lo < addr && addr <= hi && hi-lo <= maxGoStack
}

// maxGoStack is the largest stack of a goroutine (runtime.maxstackceiling is 2 GB).
const maxGoStack = 2 << 30

// thrown returns the text of a fatal error: runtime.throw and runtime.fatal have a function print
// it, a closure on their frame that has captured the text.
func (p *goProgram) thrown(x *Frame, name string) (string, bool) {
	sp, ok := x.Registers.Get(p.memory.arch.SP)
	const largest = 1 << 10
	if !ok || x.CFA <= sp || x.CFA-sp > largest {
		return "", false
	}
	data := p.memory.bytes(sp, int(x.CFA-sp))
	for i := 0; i+32 <= len(data); i += 8 {
		entry := p.memory.arch.Word(data[i:]) - p.Bias
		f, ok := p.Table.Find(entry)
		if !ok || f.Lo != entry || f.Name() != name+".func1" {
			continue
		}
		for _, at := range []int{i + 8, i + 16} { // runtime.fatal's has captured a pointer, too
			if text, ok := p.text(p.memory.arch.Word(data[at:]), p.memory.arch.Word(data[at+8:])); ok && text != "" {
				return strings.ReplaceAll(text, "\n", "\n\t"), true
			}
		}
	}
	return "", false
}

// maxPanics bounds the panics of a goroutine that are shown.
const maxPanics = 32

// panicLayout is where a struct _panic (runtime2.go) has its fields, bytes.
type panicLayout struct {
	arg, link, size             uint64
	recovered, repanicked, exit uint64 // 0 if there is no such field
}

var (
	panicGo118 = panicLayout{arg: 8, link: 24, size: 56, recovered: 48, exit: 50}
	panicGo122 = panicLayout{arg: 8, link: 24, size: 100, recovered: 96, exit: 97}
	panicGo125 = panicLayout{arg: 8, link: 24, size: 100, recovered: 96, repanicked: 97, exit: 98}
	panicGo126 = panicLayout{arg: 0, link: 16, size: 92, recovered: 88, repanicked: 89, exit: 90}
)

// layoutOf tells which release has made a struct _panic of a goroutine with the stack [lo, hi).
// Before Go 1.26, the first word is an address on the stack, or 0, and the next one a type; since
// then, the first one is the type. Of the earlier releases, Go 1.22 and later have an address on
// the stack where there were flags.
func (p *goProgram) layoutOf(at, lo, hi uint64) (l panicLayout, ok bool) {
	data := p.memory.bytes(at, 104)
	if data == nil {
		return l, false
	}
	word := func(i int) uint64 { return p.memory.arch.Word(data[i:]) }
	on := func(v uint64) bool { return v == 0 || v > lo && v <= hi }
	flags := func(i, n int) bool {
		return !slices.ContainsFunc(data[i:i+n], func(b byte) bool { return b > 1 })
	}
	_, first := p.typeAt(word(0))
	_, second := p.typeAt(word(8))
	switch {
	case first && on(word(16)) && on(word(32)) && on(word(40)) && on(word(56)) && flags(88, 4):
		return panicGo126, true
	case !second || !on(word(0)) || !on(word(24)) || !on(word(40)):
		return l, false
	case word(48) != 0 && on(word(48)) && on(word(64)) && flags(96, 3):
		if version := p.version(); strings.HasPrefix(version, "go1.25") {
			return panicGo125, true
		} else if version == "" && data[97] != 0 {
			return l, false
		}
		return panicGo122, true
	case flags(48, 3) && data[51] == 0 && p.memory.arch.Order.Uint32(data[52:]) == 0:
		return panicGo118, true
	}
	return l, false
}

// panics returns the texts of the panics of a goroutine, whose struct g has its struct m at an
// offset. ok is false if there is none, if the last one has been recovered, or if one is not
// understood.
func (p *goProgram) panics(g uint64, m int64) (string, bool) {
	const before = 16 // _panic and _defer come before m
	lo, _ := p.memory.word(g + goruntime.StackLo)
	hi, _ := p.memory.word(g + goruntime.StackHi)
	at, ok := p.memory.word(g + uint64(m) - before)
	var l panicLayout
	var list []string // the last one first
	for n := 0; ok && at != 0; n++ {
		if n == maxPanics || at%8 != 0 || at <= lo || at >= hi {
			return "", false
		}
		if n == 0 {
			if l, ok = p.layoutOf(at, lo, hi); !ok {
				return "", false
			}
		}
		data := p.memory.bytes(at, int(l.size))
		if data == nil {
			return "", false
		}
		flag := func(i uint64) bool { return i != 0 && data[i] == 1 }
		if n == 0 && (flag(l.recovered) || flag(l.exit)) {
			return "", false
		}
		text, ok := p.value(p.memory.arch.Word(data[l.arg:]), p.memory.arch.Word(data[l.arg+8:]))
		if !ok {
			return "", false
		}
		text = "panic: " + text
		switch {
		case flag(l.exit):
			text = ""
		case flag(l.recovered) && flag(l.repanicked):
			text += " [recovered, repanicked]"
		case flag(l.recovered):
			text += " [recovered]"
		}
		if flag(l.repanicked) && len(list) > 0 {
			list = list[:len(list)-1] // it has the same value
		}
		if text != "" {
			list = append(list, text)
		}
		at = p.memory.arch.Word(data[l.link:])
	}
	slices.Reverse(list)
	return strings.Join(list, "\n\t"), len(list) > 0
}
