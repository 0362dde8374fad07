package fromelf

import (
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/format/cfi"
	"github.com/sfwalk/sfwalk/trad"
)

// Disagreement is a stretch of code for which a symbol file's stack rules and the binary's own
// tables say different things.
type Disagreement struct {
	Lo, Hi    uint64   // addresses of the symbol file
	Registers []string // that differ: ".cfa", ".ra", "$rbx"
	File      string   // the rules of the symbol file
	Binary    string   // the row of the binary
}

// Comparison is what [Dump.Compare] has found. Sizes are bytes of code.
type Comparison struct {
	Disagreements []Disagreement // at most 10,000
	Dropped       int            // how many more there are
	Compared      uint64         // both have rules
	Missing       uint64         // the symbol file has none
	Outermost     uint64         // compared but for the return address: STACK CFI has no words for that there is none
	Problems      []error        // what of the binary's tables, or of the file, could not be read
}

// maxDisagreements bounds what a [Comparison] keeps.
const maxDisagreements = 10_000

var errOverlap = errors.New("the tables say more of the same code than the tables of an honest file: the rest is not compared")

// ErrOther says that a symbol file is of another module, or of another build.
var ErrOther = errors.New("the symbol file is of another build")

// Compare compares the stack rules of a symbol file with the call frame information of d's file, at
// each address where either changes. Rules that compute the same from the same registers and memory
// agree, however they are written.
func (d *Dump) Compare(f *breakpad.File) (*Comparison, error) {
	if !strings.EqualFold(f.Module.ID, d.Module.ID) {
		return nil, fmt.Errorf("identifier %s, not %s: %w", f.Module.ID, d.Module.ID, ErrOther)
	}
	c := &comparer{d: d, file: f, names: d.arch.Breakpad.Registers(), numbers: map[string]trad.Reg{}, rules: map[string]breakpad.Expr{}, bits: 64}
	if d.image.Class == elf.ELFCLASS32 {
		c.bits = 32
	}
	for i, name := range c.names {
		if name != "" {
			c.numbers[name] = trad.Reg(i)
		}
	}
	c.left = 1<<18 + d.image.SizeOnDisk()/4
	any := false
	for section := range d.cfiSections() {
		for fde, err := range section.FDEs() {
			if err != nil {
				c.trouble(err)
				continue
			}
			if c.left < 0 {
				break
			}
			if any = true; !d.covers(fde.Start) || fde.Len == 0 {
				continue
			}
			for row, err := range section.Rows(fde) {
				if err != nil {
					if !errors.Is(err, cfi.ErrNoCFA) {
						c.trouble(err)
					}
					continue
				}
				if c.row(&row, &fde); c.left < 0 {
					c.trouble(errOverlap)
					break
				}
			}
		}
	}
	if !any {
		return nil, errors.New("the binary has no call frame information")
	}
	return &c.Comparison, nil
}

// comparer compares row by row.
type comparer struct {
	Comparison
	d       *Dump
	file    *breakpad.File
	left    int64 // comparisons, and 64 bytes of text, that may still be made: tables may say millions of things of one address
	names   []string
	numbers map[string]trad.Reg
	bits    uint

	// The symbol file's rules at the last address:
	records *breakpad.CFI // nil if there are none
	applied int           // of records.Changes
	addr    uint64
	rules   map[string]breakpad.Expr
	broken  bool  // they cannot be read
	size    int64 // bytes of their text
}

func (c *comparer) trouble(err error) {
	if len(c.Problems) < maxWarnings {
		c.Problems = append(c.Problems, err)
	}
}

// row compares a row of the binary with the rules of the symbol file.
func (c *comparer) row(row *trad.Row, fde *cfi.FDE) {
	at, end := row.Lo-c.d.load, row.Lo-c.d.load+uint64(row.Len)
	for at < end && c.left >= 0 {
		c.left--
		next, ok := c.seek(at)
		next = min(next, end)
		if ok && row.CFA.Kind == trad.ValExpr && end-row.Lo+c.d.load < maxStepped { // it may depend on the PC
			next = at + 1
		}
		switch {
		case !ok:
			c.Missing += next - at
		case !c.broken:
			c.compare(row, fde, at, next)
		}
		at = next
	}
}

// maxStepped bounds the bytes of a row that are compared one by one.
const maxStepped = 64 << 10

// seek finds the rules of the symbol file at addr, and where they end. ok is false if there are
// none up to there.
func (c *comparer) seek(addr uint64) (end uint64, ok bool) {
	if c.records == nil || !(breakpad.Range{Address: c.records.Address, Size: c.records.Size}).Contains(addr) || addr < c.addr {
		var err error
		c.records, err = c.file.CFI(addr)
		if err != nil {
			c.trouble(err)
			c.records = nil
		}
		if c.records == nil {
			if end, ok = c.file.NextCFI(addr); !ok {
				end = math.MaxUint64
			}
			return end, false
		}
		clear(c.rules)
		c.size = 0
		c.applied, c.broken = 0, false
		c.apply(c.records.Rules)
	}
	c.addr = addr
	changes := c.records.Changes
	for c.applied < len(changes) && changes[c.applied].Address <= addr {
		c.apply(changes[c.applied].Rules)
		c.applied++
	}
	end = c.records.Address + c.records.Size
	if c.applied < len(changes) {
		end = min(end, changes[c.applied].Address)
	}
	return max(end, addr+1), true
}

func (c *comparer) apply(text string) {
	c.left -= int64(len(text)) / 64
	rules, err := breakpad.ParseRules(text)
	if err != nil {
		c.trouble(fmt.Errorf("STACK CFI at %x: %w", c.records.Address, err))
		c.broken = true
		return
	}
	c.size += int64(len(text))
	for _, r := range rules {
		c.rules[r.Register] = r.Expr
	}
}

// compare compares a row with the rules in c, for the code from lo to hi.
func (c *comparer) compare(row *trad.Row, fde *cfi.FDE, lo, hi uint64) {
	c.Compared += hi - lo
	c.left -= c.size / 64
	outermost := row.Flags&trad.Outermost != 0 || row.RA.Kind == trad.Undefined
	if outermost {
		c.Outermost += hi - lo
	}
	var differ []string
	for round := uint64(1); round <= 2 && len(differ) == 0; round++ {
		differ = c.differ(row, fde, &world{c: c, round: round, pc: lo + c.d.load}, outermost)
	}
	if len(differ) == 0 {
		return
	}
	file, binary := c.text(), c.format(row)
	c.left -= int64(len(file)+len(binary)) / 64
	if n := len(c.Disagreements); n > 0 {
		if last := &c.Disagreements[n-1]; last.Hi == lo && slices.Equal(last.Registers, differ) && last.File == file && last.Binary == binary {
			last.Hi = hi
			return
		}
	}
	if len(c.Disagreements) >= maxDisagreements {
		c.Dropped++
		return
	}
	c.Disagreements = append(c.Disagreements, Disagreement{lo, hi, differ, file, binary})
}

// differ returns the registers whose values differ in a world.
func (c *comparer) differ(row *trad.Row, fde *cfi.FDE, w *world, outermost bool) (list []string) {
	cfa, err := row.Apply(w)
	if err != nil {
		return nil // the binary's expression cannot be evaluated: nothing to compare
	}
	mask := ^uint64(0) >> (64 - c.bits)
	cfa &= mask
	own, ok := c.value(w, breakpad.CFA)
	if !ok || own != cfa {
		return []string{breakpad.CFA}
	}
	w.cfa, w.hasCFA = cfa, true
	ra := fde.CIE.RA
	check := func(rule trad.Rule, reg trad.Reg, name string) {
		if rule.Kind == trad.Undefined || rule.Kind == trad.NotTracked {
			return
		}
		place, err := row.Place(rule, reg, w, cfa)
		if err != nil {
			return
		}
		want := place.Addr
		switch place.Kind {
		case trad.InThis:
			want, _ = w.Register(place.Reg)
		case trad.InMemory:
			want, _ = w.Word(place.Addr)
		case trad.IsValue:
		default:
			return
		}
		got, ok := c.value(w, name)
		if _, listed := c.rules[name]; !listed && name != breakpad.RA {
			got, _ = w.Register(reg)
			ok = true
		}
		if !ok || got != want&mask {
			list = append(list, name)
		}
	}
	if !outermost {
		check(row.RA, ra, breakpad.RA)
	}
	seen := map[string]bool{breakpad.RA: true, breakpad.CFA: true}
	if row.Others != nil {
		for _, r := range row.Others.Regs {
			if name := c.name(r.Reg); r.Reg != ra {
				seen[name] = true
				check(r.Rule, r.Reg, name)
			}
		}
	}
	if fp := c.d.arch.FP; fp != ra {
		seen[c.name(fp)] = true
		check(row.FP, fp, c.name(fp))
	}
	for _, name := range slices.Sorted(maps.Keys(c.rules)) {
		reg, known := c.numbers[name]
		if !seen[name] && known {
			check(trad.Rule{Kind: trad.Same}, reg, name)
		}
	}
	return list
}

func (c *comparer) name(reg trad.Reg) string {
	if int(reg) < len(c.names) && c.names[reg] != "" {
		return c.names[reg]
	}
	return fmt.Sprintf("unnamed_register%d", reg)
}

// value evaluates the symbol file's rule of a register.
func (c *comparer) value(w *world, name string) (uint64, bool) {
	e, ok := c.rules[name]
	if !ok {
		return 0, false
	}
	v, err := e.Eval(fileWorld{w}, c.bits)
	return v, err == nil
}

// text returns the symbol file's rules as it writes them.
func (c *comparer) text() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.rules)) {
		parts = append(parts, name+": "+c.rules[name].String())
	}
	return strings.Join(parts, " ")
}

func (c *comparer) format(row *trad.Row) string { return row.Format(c.name) }

// world is a machine whose registers and memory have values of no meaning, each another one.
type world struct {
	c      *comparer
	round  uint64
	pc     uint64
	cfa    uint64
	hasCFA bool
}

func (w *world) mix(kind, v uint64) uint64 {
	x := (v+kind<<56)*0x9e3779b97f4a7c15 + w.round*0xd1b54a32d192ed03
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 32
	return x & (^uint64(0) >> (64 - w.c.bits))
}

// Register implements [trad.Env].
func (w *world) Register(reg trad.Reg) (uint64, bool) {
	if reg == w.c.d.arch.PC {
		return w.pc, true
	}
	return w.mix(1, uint64(reg)), true
}

// Word implements [trad.Env].
func (w *world) Word(addr uint64) (uint64, error) {
	return w.mix(2, addr&(^uint64(0)>>(64-w.c.bits))), nil
}

// fileWorld is a world for the rules of symbol files, which call registers by their names.
type fileWorld struct{ *world }

// Register implements [breakpad.Env].
func (w fileWorld) Register(name string) (uint64, bool) {
	if name == breakpad.CFA {
		return w.cfa, w.hasCFA
	}
	reg, ok := w.c.numbers[name]
	if !ok {
		return 0, false
	}
	return w.world.Register(reg)
}
