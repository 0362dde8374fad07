package symbol

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/target"
)

// Skip says how the end of a prologue was found.
type Skip uint8

const (
	NotSkipped    Skip = iota // there is no prologue, or it need not be skipped: variables are found from the entry on
	SkippedByMark             // the line table marks the end of the prologue
	SkippedByLine             // the function's second line begins there
	SkippedByCode             // the instructions that set up the frame end there
)

// SkipPrologue returns the address at which a breakpoint belongs in the function with the given
// entry: behind the instructions that set up the frame and store the arguments, as GDB's break
// does. a and mem are the target's; without mem, code is read from the module's file. Without debug
// information, the code decides. If nothing is known of the function, pc is entry.
func (s *Symbolizer) SkipPrologue(modules *target.Modules, entry uint64, a *arch.Arch, mem target.Memory) (pc uint64, how Skip) {
	const longest = 512 // bytes of code
	code := make([]byte, longest)
	n := 0
	if mem != nil {
		n, _ = mem.ReadMemory(entry, code)
	}
	m := modules.Find(entry)
	if m == nil {
		return skipByCode(a, code[:n], entry)
	}
	mod := s.tables(m).elf
	if mod.image == nil {
		return skipByCode(a, code[:n], entry)
	}
	if mem == nil {
		n = mod.image.ReadLoaded(entry-mod.bias, code)
	}
	code = code[:n]
	found := false
	if info := mod.dwarf(); info != nil {
		info.ask(func(d *debugInfo) {
			found = false
			at, ok := d.functionAt(entry - mod.bias)
			if !ok {
				return
			}
			if b := at.body(); b != nil {
				p := prologue{d: at.d, u: at.u, body: b, lines: at.d.linesOf(at.u), entry: entry - mod.bias, arch: a, code: code}
				pc, how, found = p.skip()
			}
		})
	}
	if found {
		return pc + mod.bias, how
	}
	return skipByCode(a, code, entry)
}

func skipByCode(a *arch.Arch, code []byte, entry uint64) (uint64, Skip) {
	skip := a.FrameSetUp
	if skip == nil {
		skip = a.AnalyzePrologue
	}
	if skip == nil || len(code) == 0 {
		return entry, NotSkipped
	}
	if pc := skip(code, entry); pc > entry {
		return pc, SkippedByCode
	}
	return entry, NotSkipped
}

// prologue is the question where a function's prologue ends. Addresses are link-time ones.
type prologue struct {
	d     *debugInfo
	u     *unit
	body  *body
	lines *lineTable
	entry uint64
	arch  *arch.Arch
	code  []byte
}

// end returns the end of the contiguous part of the function that begins with its entry.
func (p *prologue) end() uint64 {
	for _, r := range p.body.rangesOf(&p.body.functions[0]) {
		if p.entry >= r[0] && p.entry < r[1] {
			return r[1]
		}
	}
	return p.entry
}

// skip finds the end as GDB does (amd64_skip_prologue, skip_prologue_using_sal, skip_prologue_sal).
// ok is false if the function has no lines.
func (p *prologue) skip() (pc uint64, how Skip, ok bool) {
	t := p.lines
	if t == nil {
		return 0, 0, false
	}
	if _, _, _, ok := t.span(p.entry); !ok {
		return 0, 0, false
	}
	producer := p.d.text(p.u, p.u.head.producer)
	llvm := strings.HasPrefix(producer, "clang ") || strings.Contains(producer, " clang version")
	if i, _ := slices.BinarySearch(t.prologueEnds, p.entry); llvm && i < len(t.prologueEnds) && t.prologueEnds[i] < p.end() {
		return t.prologueEnds[i], SkippedByMark, true
	}
	if strings.HasPrefix(producer, "GNU ") && p.d.hasLocLists(p.u) {
		return p.entry, NotSkipped, true
	}
	if llvm || p.arch.FrameSetUp == nil {
		pc = p.secondLine()
	}
	if pc == 0 {
		pc, _ = skipByCode(p.arch, p.code, p.entry)
		how = SkippedByCode
	} else {
		how = SkippedByLine
	}
	if lo, hi, _, ok := t.span(pc); ok && lo != pc && hi < p.end() { // in the middle of a line
		pc, how = hi, SkippedByLine
	}
	if pc == p.entry {
		how = NotSkipped
	}
	return pc, how, true
}

// secondLine returns where the first line of the function ends, or the last of the lines before it
// in the source that follow; 0 if the function has one line.
func (p *prologue) secondLine() uint64 {
	t, end := p.lines, p.end()
	if _, twice := slices.BinarySearch(t.doubled, p.entry); twice { // the line of the body begins here as well
		return p.entry
	}
	lo, hi, first, _ := t.span(p.entry)
	if hi >= end {
		return 0
	}
	for hi < end {
		nextLo, nextHi, next, ok := t.span(hi)
		if !ok || next.line >= first.line || next.file != first.file || p.inlined(hi) {
			break
		}
		lo, hi, first = nextLo, nextHi, next
	}
	if hi < end {
		return hi
	}
	return lo
}

// inlined reports whether a call is inlined at addr.
func (p *prologue) inlined(addr uint64) bool {
	return p.body.inlinedAt(0, addr) >= 0
}

// span returns the addresses of the row that addr is in.
func (t *lineTable) span(addr uint64) (lo, hi uint64, r row, ok bool) {
	i, found := slices.BinarySearchFunc(t.rows, addr, func(r row, a uint64) int {
		switch {
		case r.addr < a:
			return -1
		case r.addr > a:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	if i < 0 || t.rows[i].line == 0 || i+1 == len(t.rows) {
		return 0, 0, row{}, false
	}
	return t.rows[i].addr, t.rows[i+1].addr, t.rows[i], true
}

// hasLocLists reports whether variables of a unit have lists of locations: GCC's are right from a
// function's first instruction on.
func (d *debugInfo) hasLocLists(u *unit) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	table, err := d.abbrevs(u)
	if err != nil {
		return false
	}
	for a := range table.All() {
		if a.Tag != dwarf.TagVariable && a.Tag != dwarf.TagFormalParameter {
			continue
		}
		for _, x := range a.Attrs {
			if x.Attr != dwarf.AttrLocation {
				continue
			}
			switch x.Form {
			case dwarfdata.FormSecOffset, dwarfdata.FormLoclistx:
				return true
			case dwarfdata.FormData4, dwarfdata.FormData8:
				if u.Version < 4 {
					return true
				}
			}
		}
	}
	return false
}
