package external

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/pluginrow"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// asked is the question that an answer is checked against: the process, and THIS.
type asked struct {
	arch    *arch.Arch
	modules *target.Modules
	memory  target.Memory
	block   uint64
	regs    *arch.Registers // of THIS
	nextCFA uint64
	level   int
	thread  int
}

// reply is a checked answer.
type reply struct {
	row      trad.Row // if it claims
	claims   bool
	declines frame.Answer
	once     bool // declines for this frame alone
	more     []trad.Row
	never    []plugin.Range
	symbols  []plugin.Symbol
	own      name // of THIS frame alone; no function if the plug-in gave none
	cfa      uint64
}

// name is the name of one frame alone: its function, and where that begins.
type name struct {
	symbol plugin.Symbol
	start  uint64 // 0 if not known
	// special is the frame's special address, if hasSpecial.
	special    uint64
	hasSpecial bool
}

// check turns an answer into a reply. The error, which wraps ErrNonsense, says what is
// wrong with it.
func (a *asked) check(m *protocol.Answer) (r reply, err error) {
	if len(m.Rows) > protocol.MaxMore || len(m.Never) > protocol.MaxMore || len(m.Symbols) > protocol.MaxMore {
		return r, nonsense("an answer with %d rows, %d ranges and %d symbols more: at most %d of each", len(m.Rows), len(m.Never), len(m.Symbols), protocol.MaxMore)
	}
	switch {
	case m.Row != nil && m.Frame != nil:
		return r, nonsense("both a row and a frame")
	case (m.Row != nil || m.Frame != nil) && m.Declines != "":
		return r, nonsense("an answer that claims, and declines: %s", clean(m.Declines, 80))
	case m.Row != nil:
		r.claims = true
		if r.row, err = a.row(m.Row); err == nil && !r.row.Contains(a.block) {
			err = nonsense("a row for [%#x, %#x), asked about %#x", m.Row.Lo, m.Row.Hi, a.block)
		}
		if err == nil && r.row.Flags&trad.Once != 0 {
			r.row.Lo, r.row.Len = a.block, 1
		}
	case m.Frame != nil:
		r.claims = true
		r.row, err = a.frame(m.Frame)
		r.own.start, r.own.special, r.own.hasSpecial = m.Frame.Function, m.Frame.Special, m.Frame.HasSpecial
	default:
		r.declines, r.once = declined(m.Declines), m.DeclinesOnce
	}
	if err == nil && r.claims {
		r.cfa, err = a.outward(&r.row)
	}
	if err != nil {
		return r, err
	}
	for _, x := range m.Rows {
		row, err := a.row(x)
		if err == nil && row.Flags&trad.Once != 0 {
			err = nonsense("a row of other code that is for one frame alone")
		}
		if err != nil {
			return r, err
		}
		r.more = append(r.more, row)
	}
	if r.never, err = denied(m.Never); err != nil {
		return r, err
	}
	for _, x := range m.Symbols {
		s, err := symbol(x)
		if err != nil {
			return r, err
		}
		r.symbols = append(r.symbols, s)
	}
	if m.Name != nil {
		if r.own.symbol, err = symbol(m.Name); err == nil && r.own.start == 0 {
			r.own.start = r.own.symbol.Start
		}
	}
	return r, err
}

// size returns how much memory a kept answer takes, in bytes, about.
func (r *reply) size() (n int) {
	const each = 192 // a row or symbol, with its range and its place
	texts := func(s *plugin.Symbol) int { return each + len(s.Function) + len(s.File) }
	rules := func(row *trad.Row) int {
		if row.Others == nil {
			return each
		}
		return each + 16*(len(row.Others.Regs)+len(row.Others.Exprs))
	}
	n = rules(&r.row) + texts(&r.own.symbol) + len(r.declines) + each*len(r.never)
	for i := range r.more {
		n += rules(&r.more[i])
	}
	for i := range r.symbols {
		n += texts(&r.symbols[i])
	}
	return n
}

func nonsense(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrNonsense}, args...)...)
}

// declined returns a plug-in's reason to decline. The reason is never empty.
func declined(why string) frame.Answer {
	return frame.Answer(cmp.Or(clean(why, 200), "it does not say why"))
}

func denied(list []*protocol.Range) (to []plugin.Range, err error) {
	for _, x := range list {
		if x.GetLo() >= x.GetHi() {
			return nil, nonsense("a range [%#x, %#x) that it never claims", x.GetLo(), x.GetHi())
		}
		to = append(to, plugin.Range{Lo: x.Lo, Hi: x.Hi})
	}
	return to, nil
}

func symbol(x *protocol.Symbol) (plugin.Symbol, error) {
	s := plugin.Symbol{
		Range: plugin.Range{Lo: x.GetLo(), Hi: x.GetHi()}, Start: cmp.Or(x.GetStart(), x.GetLo()), Line: int(min(x.GetLine(), math.MaxInt32)),
		Function: clean(x.GetFunction(), protocol.MaxText), File: clean(x.GetFile(), protocol.MaxText),
	}
	if s.Lo >= s.Hi || s.Function == "" {
		return s, nonsense("a symbol %q for [%#x, %#x)", clean(s.Function, 80), s.Lo, s.Hi)
	}
	return s, nil
}

// row checks a row. Its range must be within contiguous code of one file, or of none. Its rules
// must name registers that the processor has.
func (a *asked) row(m *protocol.Row) (trad.Row, error) {
	c := checks{asked: a, once: m.Once}
	c.frameType(m.Type, m.Kind)
	switch {
	case m.Hi <= m.Lo || m.Hi-m.Lo > math.MaxUint32:
		c.fail("a row for [%#x, %#x)", m.Lo, m.Hi)
	case a.modules.CodeEnd(m.Lo) < m.Hi || a.modules.FindFile(m.Lo) != a.modules.FindFile(m.Hi-1):
		c.fail("a row for [%#x, %#x), which is not the code of one file, or of none", m.Lo, m.Hi)
	}
	c.rules(m.Others, m.Cfa, m.Ra, m.Fp)
	if c.err != nil {
		return trad.Row{}, c.err
	}
	row := pluginrow.Row(m)
	row.Lo, row.Len = m.Lo, uint32(m.Hi-m.Lo)
	c.row(&row)
	return row, c.err
}

// frame checks a message that unwinds one frame, and returns the row for that frame alone.
func (a *asked) frame(m *protocol.Frame) (trad.Row, error) {
	c := checks{asked: a, once: true, fixed: true}
	c.frameType(m.Type, m.Kind)
	c.rules(m.Others, m.Pc, m.Sp, m.Fp)
	if c.err != nil {
		return trad.Row{}, c.err
	}
	row, sp := pluginrow.Frame(m)
	row.Lo, row.Len = a.block, 1
	if m.Sp != nil {
		regs := row.Others.Regs
		i, _ := slices.BinarySearchFunc(regs, a.arch.SP, func(r trad.RegRule, n trad.Reg) int { return cmp.Compare(r.Reg, n) })
		row.Others.Regs = slices.Insert(regs, i, trad.RegRule{Reg: a.arch.SP, Rule: sp})
	}
	c.row(&row)
	return row, c.err
}

// outward computes the CFA of THIS by a row. The CFA, PREVIOUS's SP and the place of its saved PC
// must not lie inward of THIS frame's SP. If the CFA needs memory that cannot be read, outward
// returns no error: the engine finds out.
func (a *asked) outward(row *trad.Row) (cfa uint64, err error) {
	if cfa, err = row.Apply((*env)(a)); err != nil {
		return 0, nil
	}
	sp, known := a.regs.Get(a.arch.SP)
	if known && row.Flags&(trad.Signal|trad.OtherStack) == 0 && row.Others.Lists(a.arch.SP) {
		p, err := row.Place(row.Others.Rule(a.arch.SP), a.arch.SP, (*env)(a), cfa)
		v := p.Addr
		if err == nil && p.Kind == trad.InMemory {
			v, err = (*env)(a).Word(p.Addr)
		}
		if err == nil && (p.Kind == trad.InMemory || p.Kind == trad.IsValue) && a.arch.InnerThan(v, sp) {
			return 0, nonsense("PREVIOUS's SP, %#x, inside of THIS, whose SP is %#x", v, sp)
		}
	}
	if !known || row.Flags&(trad.Signal|trad.OtherStack) != 0 {
		return cfa, nil
	}
	if a.arch.InnerThan(cfa, sp) {
		return 0, nonsense("a CFA, %#x, inside of THIS, whose SP is %#x", cfa, sp)
	}
	if row.RA.Kind == trad.Saved && row.RA.Off < 0 {
		at, innermost := row.RA.At(cfa), sp
		if pc, ok := a.regs.Get(a.arch.PC); ok && pc == a.block { // THIS has called nothing: the red zone is its own
			innermost -= min(sp, uint64(a.arch.RedZone))
		}
		if a.arch.InnerThan(at, innermost) {
			return 0, nonsense("PREVIOUS's PC at %#x, inside of THIS, whose SP is %#x", at, sp)
		}
	}
	return cfa, nil
}

// checks are the checks of one row or frame.
type checks struct {
	*asked
	once  bool  // the row is for one frame alone: rules may name addresses
	fixed bool  // rules must name addresses
	err   error // the first fault
}

func (c *checks) fail(format string, args ...any) {
	if c.err == nil {
		c.err = nonsense(format, args...)
	}
}

func (c *checks) frameType(t protocol.FrameType, kind protocol.FrameKind) {
	switch t {
	case protocol.FrameType_NORMAL, protocol.FrameType_SIGNAL, protocol.FrameType_OTHER_STACK:
	default:
		c.fail("a frame of type %d", t)
	}
	interrupts := t == protocol.FrameType_SIGNAL
	switch kind {
	case protocol.FrameKind_AS_TYPE:
	case protocol.FrameKind_DUMMY, protocol.FrameKind_INJECTED:
		if !interrupts {
			c.fail("a frame of kind %v and type %v: PREVIOUS was interrupted, so its type is SIGNAL", kind, t)
		}
	case protocol.FrameKind_INLINE, protocol.FrameKind_TAIL_CALL:
		if interrupts {
			c.fail("a frame of kind %v and type %v: PREVIOUS has made a call, so its type is not SIGNAL", kind, t)
		}
	default:
		// A newer plug-in's: its type leads to the right PREVIOUS.
	}
}

func (c *checks) register(n uint32) {
	if n >= arch.MaxReg || c.arch.Index(trad.Reg(n)) < 0 {
		c.fail("register %d: %s has none", n, c.arch.Name)
	}
}

// rules checks the main rules of a message, and the rules of other registers.
func (c *checks) rules(others []*protocol.RegisterRule, main ...*protocol.Rule) {
	for _, m := range main {
		c.rule(m)
	}
	if len(others) > protocol.MaxRules {
		c.fail("%d rules: at most %d", len(others), protocol.MaxRules)
		return
	}
	for _, m := range others {
		c.register(m.GetRegister())
		c.rule(m.GetRule())
	}
}

func (c *checks) rule(m *protocol.Rule) {
	kind := m.GetKind()
	absolute := kind == protocol.Rule_SAVED_AT_IS || kind == protocol.Rule_VALUE_IS
	switch {
	case c.fixed && !absolute && kind != protocol.Rule_NOT_TRACKED && kind != protocol.Rule_UNDEFINED:
		c.fail("a rule %s in a frame", kind)
	case absolute && !c.once:
		c.fail("an address in a row for all frames")
	case kind < 0 || kind > protocol.Rule_VALUE_IS:
		c.fail("a rule of kind %d", kind)
	case kind == protocol.Rule_SAVED_AT || kind == protocol.Rule_IN_REGISTER:
		c.register(m.Register)
	}
}

// row checks a row as a whole.
func (c *checks) row(row *trad.Row) {
	if row.Others != nil {
		for i, x := range row.Others.Regs {
			switch {
			case x.Reg == c.arch.PC || x.Reg == c.arch.FP:
				c.fail("a rule for register %d, which has a place of its own, among the others", x.Reg)
			case i > 0 && x.Reg == row.Others.Regs[i-1].Reg:
				c.fail("two rules for register %d", x.Reg)
			}
		}
	}
	switch row.CFA.Kind {
	case trad.InReg, trad.SavedAt, trad.ValExpr:
	case trad.NotTracked:
		if row.Flags&trad.Outermost == 0 {
			c.fail("no rule for the CFA")
		}
	default:
		c.fail("a CFA of kind %d: want IN_REGISTER or SAVED_AT", row.CFA.Kind)
	}
	if (row.RA.Kind == trad.NotTracked || row.RA.Kind == trad.Undefined) && row.Flags&trad.Outermost == 0 {
		c.fail("PREVIOUS's PC is not told, and THIS is not outermost")
	}
}

// env applies rules to THIS.
type env asked

// Register implements [trad.Env].
func (e *env) Register(r trad.Reg) (uint64, bool) { return e.regs.Get(r) }

// Word implements [trad.Env].
func (e *env) Word(addr uint64) (uint64, error) {
	var room [8]byte
	p := room[:e.arch.PtrSize]
	if n, err := e.memory.ReadMemory(addr, p); n < len(p) {
		return 0, cmp.Or(err, target.ErrUnmapped)
	}
	return e.arch.Word(p), nil
}
