package breakpad

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
)

// Problem is something that is wrong in a symbol file.
type Problem struct {
	Line int // of the record, from 1
	// Kind is the same for all problems of a sort: "lines outside their function".
	Kind string
	Text string // what is wrong with this record
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// maxProblems bounds [Checked.Problems].
const maxProblems = 10_000

// Checked is what [Check] has found.
type Checked struct {
	Problems []Problem // by line; at most 10,000
	Dropped  int       // how many more there are
	Lines    int       // of the file
	Module   Module
	// Numbers of records of a file that is read as it is, in its order.
	Funcs, FuncLines, Inlines, Publics, CFI, CFIChanges, Win int
}

// Kinds of problems.
const (
	wrongModule   = "not a MODULE record at the beginning, or several"
	wrongRecord   = "malformed records"
	wrongUnknown  = "records of unknown types"
	wrongNumber   = "numbers of FILE and INLINE_ORIGIN that are not there, or several times"
	wrongOutside  = "records outside of the function or the range that they belong to"
	wrongOrder    = "records that are not in the order of addresses"
	wrongOverlap  = "ranges that overlap"
	wrongRepeated = "records that are there several times"
	wrongRules    = "stack rules that cannot be used"
	wrongDepth    = "inlined calls without the call around them"
)

// checker reads a file record by record. It keeps a few bytes for each range.
type checker struct {
	Checked
	line int

	files, origins map[int]string

	fn      Func
	inFunc  bool
	lineEnd uint64
	lineAt  uint64
	stack   []Inline // the calls around the next one
	funcs   []checkedRange
	publics []checkedRange
	cfi     []checkedRange
	frames  []checkedRange // STACK WIN of frame data
	fpo     []checkedRange
	outside []outsideCall

	init     StackCFIInit
	inInit   bool
	changeAt uint64
}

// checkedRange is a range of code that a record is for.
type checkedRange struct {
	Range
	line int
	hash uint64 // of the text, for ranges that are equal
}

// outsideCall is an inlined call whose code is outside of the FUNC before it: perhaps in another
// part of the function.
type outsideCall struct {
	line int
	name string
	code Range
}

// Check reads a symbol file and says what is wrong with it. The error is r's alone.
func Check(r io.Reader) (*Checked, error) {
	c := &checker{files: map[int]string{}, origins: map[int]string{}}
	lines := newLineReader(r)
	for lines.next() {
		c.line = lines.number
		if lines.long {
			c.problem(wrongRecord, "%v", errLong)
			continue
		}
		if len(lines.line) == 0 {
			continue
		}
		record, err := ParseRecord(lines.line)
		if err != nil {
			c.problem(wrongRecord, "%v: %.60q", err, lines.line)
			continue
		}
		if _, module := record.(Module); c.Lines == 0 && !module {
			c.problem(wrongModule, "the file does not begin with a MODULE record")
		}
		c.Lines = c.line
		c.record(record)
	}
	c.end()
	slices.SortStableFunc(c.Problems, func(a, b Problem) int { return a.Line - b.Line })
	return &c.Checked, lines.err
}

func (c *checker) problem(kind, format string, args ...any) {
	c.problemAt(c.line, kind, format, args...)
}

func (c *checker) problemAt(line int, kind, format string, args ...any) {
	if len(c.Problems) >= maxProblems {
		c.Dropped++
		return
	}
	c.Problems = append(c.Problems, Problem{line, kind, fmt.Sprintf(format, args...)})
}

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Fa-f]{33,40}$`) })

func (c *checker) record(record Record) {
	switch r := record.(type) {
	case Module:
		if c.Module != (Module{}) {
			c.problem(wrongModule, "another MODULE record")
			return
		}
		c.Module = r
		if !identifier().MatchString(r.ID) {
			c.problem(wrongModule, "identifier %q: want 32 hexadecimal digits and an age", r.ID)
		}
		if r.Name == "" {
			c.problem(wrongModule, "the module has no name")
		}
	case SourceFile:
		c.number(c.files, "FILE", r.Number, r.Name)
	case InlineOrigin:
		c.number(c.origins, "INLINE_ORIGIN", r.Number, r.Name)
	case Func:
		c.function(r)
	case Line:
		c.codeLine(r)
	case Inline:
		c.inlined(r)
	case Public:
		c.inFunc = false
		c.Publics++
		c.publics = append(c.publics, checkedRange{Range{r.Address, 1}, c.line, hash(r.Name)})
	case StackCFIInit:
		c.cfiInit(r)
	case StackCFI:
		c.cfiChange(r)
	case StackWin:
		c.Win++
		at := checkedRange{Range{r.Address, r.CodeSize}, c.line, 0}
		switch r.Type {
		case FrameData:
			c.frames = append(c.frames, at)
		case FPO:
			c.fpo = append(c.fpo, at)
		}
	case Unknown:
		c.problem(wrongUnknown, "%.60q", r.Text)
	}
}

// number notes the number of a FILE or an INLINE_ORIGIN.
func (c *checker) number(numbers map[int]string, kind string, n int, name string) {
	if _, known := numbers[n]; known {
		c.problem(wrongNumber, "%s %d is there several times", kind, n)
	}
	numbers[n] = ""
	if name == "" {
		c.problem(wrongRecord, "%s %d has no name", kind, n)
	}
}

func (c *checker) function(f Func) {
	c.Funcs++
	c.fn, c.inFunc, c.lineEnd, c.lineAt, c.stack = f, true, 0, 0, c.stack[:0]
	if f.Size == 0 {
		c.problem(wrongOutside, "FUNC %s has no code", f.Name)
		return
	}
	if f.Address+f.Size < f.Address {
		c.problem(wrongOutside, "FUNC %s goes beyond the last address", f.Name)
		return
	}
	c.funcs = append(c.funcs, checkedRange{Range{f.Address, f.Size}, c.line, hash(f.Name)})
}

// holds reports whether outer holds all of inner.
func (outer Range) holds(inner Range) bool {
	return inner.Address >= outer.Address && inner.Size <= outer.Size && inner.Address-outer.Address <= outer.Size-inner.Size
}

func (c *checker) codeLine(l Line) {
	c.FuncLines++
	if !c.inFunc {
		c.problem(wrongOutside, "line record at %x, and no FUNC before it", l.Address)
		return
	}
	if _, known := c.files[l.File]; !known {
		c.problem(wrongNumber, "line record at %x: there is no FILE %d", l.Address, l.File)
	}
	if !(Range{c.fn.Address, c.fn.Size}).holds(Range{l.Address, l.Size}) || l.Size == 0 {
		c.problem(wrongOutside, "line record of %x to %x is not in its function %s, %x to %x", l.Address, l.Address+l.Size, c.fn.Name, c.fn.Address, c.fn.Address+c.fn.Size)
		return
	}
	switch {
	case l.Address < c.lineAt:
		c.problem(wrongOrder, "line record at %x comes behind that at %x", l.Address, c.lineAt)
	case l.Address < c.lineEnd:
		c.problem(wrongOverlap, "line record at %x overlaps the one before, which ends at %x", l.Address, c.lineEnd)
	}
	c.lineAt, c.lineEnd = l.Address, max(c.lineEnd, l.Address+l.Size)
}

func (c *checker) inlined(in Inline) {
	c.Inlines++
	if !c.inFunc {
		c.problem(wrongOutside, "INLINE record, and no FUNC before it")
		return
	}
	if _, known := c.origins[in.Origin]; !known {
		c.problem(wrongNumber, "there is no INLINE_ORIGIN %d", in.Origin)
	}
	if _, known := c.files[in.CallFile]; !known && in.CallFile >= 0 {
		c.problem(wrongNumber, "INLINE: there is no FILE %d", in.CallFile)
	}
	if in.Depth > len(c.stack) {
		c.problem(wrongDepth, "INLINE of depth %d, and none of depth %d before it", in.Depth, in.Depth-1)
	} else {
		c.stack = append(c.stack[:in.Depth], in)
	}
	for _, x := range in.Ranges {
		if x.Size > 0 && !(Range{c.fn.Address, c.fn.Size}).holds(x) && len(c.outside) < maxProblems {
			c.outside = append(c.outside, outsideCall{c.line, c.fn.Name, x})
		}
	}
}

func (c *checker) cfiInit(r StackCFIInit) {
	c.CFI++
	c.inFunc = false
	c.init, c.inInit, c.changeAt = r, true, r.Address
	c.cfi = append(c.cfi, checkedRange{Range{r.Address, r.Size}, c.line, hash(r.Rules)})
	if r.Size == 0 || r.Address+r.Size < r.Address {
		c.problem(wrongOutside, "STACK CFI INIT %x: no code, or beyond the last address", r.Address)
	}
	rules, ok := c.rules(r.Rules, r.Address)
	if !ok {
		return
	}
	for _, name := range []string{CFA, RA} {
		if !slices.ContainsFunc(rules, func(r Rule) bool { return r.Register == name }) {
			c.problem(wrongRules, "STACK CFI INIT %x: no rule for %s", r.Address, name)
		}
	}
}

func (c *checker) cfiChange(r StackCFI) {
	c.CFIChanges++
	switch {
	case !c.inInit:
		c.problem(wrongOutside, "STACK CFI %x, and no STACK CFI INIT before it", r.Address)
	case !(Range{c.init.Address, c.init.Size}).Contains(r.Address):
		c.problem(wrongOutside, "STACK CFI %x is not in its STACK CFI INIT, %x to %x", r.Address, c.init.Address, c.init.Address+c.init.Size)
	case r.Address < c.changeAt:
		c.problem(wrongOrder, "STACK CFI %x comes behind that at %x", r.Address, c.changeAt)
	default:
		c.changeAt = r.Address
	}
	c.rules(r.Rules, r.Address)
}

// rules checks whether rules can be evaluated.
func (c *checker) rules(text string, addr uint64) (rules []Rule, ok bool) {
	rules, err := ParseRules(text)
	if err == nil && len(rules) == 0 {
		err = errors.New("no rules")
	}
	if err != nil {
		c.problem(wrongRules, "STACK CFI at %x: %v", addr, err)
		return nil, false
	}
	for _, r := range rules {
		for name := range r.Expr.Registers {
			if name == RA || name == CFA && r.Register == CFA {
				c.problem(wrongRules, "STACK CFI at %x: the rule of %s reads %s, which has no value there", addr, r.Register, name)
				return rules, true
			}
		}
	}
	return rules, true
}
