package external

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// asked is what an answer is held against: the process, and THIS.
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

// reply is an answer that has been checked.
type reply struct {
	row      trad.Row // if it claims
	claims   bool
	declines frame.Answer
	once     bool // declines for this frame alone
	more     []trad.Row
	never    []plugin.Range
	symbols  []plugin.Symbol
	own      name // of THIS frame alone; without a function where there is none
	cfa      uint64
}

// name is a frame's own: what the plug-in calls its function, and where it begins.
type name struct {
	symbol plugin.Symbol
	start  uint64 // 0 if not known
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
		r.own.start = m.Frame.Function
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

// size is how much memory it takes to keep an answer, bytes, about.
func (r *reply) size() (n int) {
	const each = 192 // a row or symbol, with its range and its place
	texts := func(s *plugin.Symbol) int { return each + len(s.Function) + len(s.File) }
	rules := func(row *trad.Row) int {
		if row.More == nil {
			return each
		}
		return each + 16*(len(row.More.Regs)+len(row.More.Exprs))
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

// declined is the answer that a plug-in declines with, which is never empty.
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

// flags is what a type and the like say.
func flags(t protocol.FrameType, outermost, guess bool) (f trad.Flags, err error) {
	switch t {
	case protocol.FrameType_NORMAL:
	case protocol.FrameType_SIGNAL:
		f = trad.Signal
	case protocol.FrameType_OTHER_STACK:
		f = trad.OtherStack
	default:
		return 0, nonsense("a frame of type %d", t)
	}
	if outermost {
		f |= trad.Outermost
	}
	if guess {
		f |= trad.Guess
	}
	return f, nil
}

// row checks a row: its range is within contiguous code, of one file or none; its rules
// speak of registers that there are.
func (a *asked) row(m *protocol.Row) (trad.Row, error) {
	f, err := flags(m.Type, m.Outermost, m.Guess)
	if err != nil {
		return trad.Row{}, err
	}
	if m.Once {
		f |= trad.Once
	}
	row := trad.Row{Lo: m.Lo, Len: uint32(m.Hi - m.Lo), Flags: f}
	switch {
	case m.Hi <= m.Lo || m.Hi-m.Lo > math.MaxUint32:
		return row, nonsense("a row for [%#x, %#x)", m.Lo, m.Hi)
	case a.modules.CodeEnd(m.Lo) < m.Hi || a.modules.FindFile(m.Lo) != a.modules.FindFile(m.Hi-1):
		return row, nonsense("a row for [%#x, %#x), which is not the code of one file, or of none", m.Lo, m.Hi)
	}
	rules := rules{asked: a, once: m.Once}
	row.CFA = rules.rule(m.Cfa)
	row.RA = rules.rule(m.Ra)
	row.FP = rules.rule(m.Fp)
	unlisted := trad.NotTracked
	if m.OthersSame {
		unlisted = trad.Same
	}
	rules.others(m.Others, unlisted)
	return rules.finish(row)
}

// frame makes a row for one frame alone of what unwinds that.
func (a *asked) frame(m *protocol.Frame) (trad.Row, error) {
	f, err := flags(m.Type, m.Outermost, m.Guess)
	row := trad.Row{Lo: a.block, Len: 1, Flags: f | trad.Once}
	if err != nil {
		return row, err
	}
	rules := rules{asked: a, once: true, fixed: true}
	row.CFA = rules.rule(&protocol.Rule{Kind: protocol.Rule_VALUE_IS, Address: m.Cfa})
	row.RA = rules.rule(m.Pc)
	row.FP = rules.rule(m.Fp)
	others := m.Others
	if m.Sp != nil {
		others = append(slices.Clip(others), &protocol.RegisterRule{Register: uint32(a.arch.SP), Rule: m.Sp})
	}
	rules.others(others, trad.NotTracked)
	return rules.finish(row)
}

// outward computes the CFA of THIS by a row, and holds it against THIS frame's SP: what a
// frame has on the stack lies outward of it. A CFA that needs what cannot be read is for
// the engine to see.
func (a *asked) outward(row *trad.Row) (cfa uint64, err error) {
	if cfa, err = row.Apply((*env)(a)); err != nil {
		return 0, nil
	}
	sp, known := a.regs.Get(a.arch.SP)
	if known && row.Flags&(trad.Signal|trad.OtherStack) == 0 && row.More.Lists(a.arch.SP) {
		p, err := row.Place(row.More.Rule(a.arch.SP), a.arch.SP, (*env)(a), cfa)
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
		if pc, ok := a.regs.Get(a.arch.PC); ok && pc == a.block { // it has called nobody: the red zone is its own
			innermost -= min(sp, uint64(a.arch.RedZone))
		}
		if a.arch.InnerThan(at, innermost) {
			return 0, nonsense("PREVIOUS's PC at %#x, inside of THIS, whose SP is %#x", at, sp)
		}
	}
	return cfa, nil
}

// rules converts and checks the rules of one row.
type rules struct {
	*asked
	once  bool // the row is for one frame alone: rules may name addresses
	fixed bool // and must
	more  trad.Rest
	err   error
}

func (x *rules) fail(format string, args ...any) trad.Rule {
	if x.err == nil {
		x.err = nonsense(format, args...)
	}
	return trad.Rule{}
}

func (x *rules) register(n uint32) trad.Reg {
	if n >= arch.MaxReg || x.arch.Index(trad.Reg(n)) < 0 {
		x.fail("register %d: %s has none", n, x.arch.Name)
		return 0
	}
	return trad.Reg(n)
}

func (x *rules) rule(m *protocol.Rule) trad.Rule {
	kind := m.GetKind()
	if x.fixed {
		switch kind {
		case protocol.Rule_NOT_TRACKED, protocol.Rule_UNDEFINED, protocol.Rule_SAVED_AT_IS, protocol.Rule_VALUE_IS:
		default:
			return x.fail("a rule %s in a frame", kind)
		}
	}
	switch kind {
	case protocol.Rule_NOT_TRACKED:
		return trad.Rule{}
	case protocol.Rule_SAME, protocol.Rule_UNDEFINED:
		return trad.Rule{Kind: trad.Kind(kind)}
	case protocol.Rule_SAVED, protocol.Rule_VALUE:
		return trad.Rule{Kind: trad.Kind(kind), Off: m.Offset}
	case protocol.Rule_SAVED_AT, protocol.Rule_IN_REGISTER:
		return trad.Rule{Kind: trad.Kind(kind), Reg: x.register(m.Register), Off: m.Offset}
	case protocol.Rule_SAVED_AT_IS, protocol.Rule_VALUE_IS:
		if !x.once {
			return x.fail("an address in a row for all frames")
		}
		x.more.Exprs = append(x.more.Exprs, trad.Constant(m.Address))
		rule := trad.Rule{Kind: trad.Expr, Off: int32(len(x.more.Exprs) - 1)}
		if kind == protocol.Rule_VALUE_IS {
			rule.Kind = trad.ValExpr
		}
		return rule
	}
	return x.fail("a rule of kind %d", kind)
}

func (x *rules) others(list []*protocol.RegisterRule, unlisted trad.Kind) {
	if len(list) > protocol.MaxRules {
		x.fail("%d rules: at most %d", len(list), protocol.MaxRules)
		return
	}
	x.more.Unlisted = unlisted
	for _, m := range list {
		r := trad.RegRule{Reg: x.register(m.GetRegister()), Rule: x.rule(m.GetRule())}
		if r.Reg == x.arch.PC || r.Reg == x.arch.FP {
			x.fail("a rule for register %d, which has a place of its own, among the others", r.Reg)
		}
		x.more.Regs = append(x.more.Regs, r)
	}
	slices.SortFunc(x.more.Regs, func(a, b trad.RegRule) int { return cmp.Compare(a.Reg, b.Reg) })
	for i := 1; i < len(x.more.Regs); i++ {
		if x.more.Regs[i].Reg == x.more.Regs[i-1].Reg {
			x.fail("two rules for register %d", x.more.Regs[i].Reg)
		}
	}
}

// finish adds what else there is to a row, and checks the whole.
func (x *rules) finish(row trad.Row) (trad.Row, error) {
	if len(x.more.Regs)+len(x.more.Exprs) > 0 || x.more.Unlisted != trad.NotTracked {
		row.More = &x.more
	}
	switch row.CFA.Kind {
	case trad.InReg, trad.SavedAt, trad.ValExpr:
	case trad.NotTracked:
		if row.Flags&trad.Outermost == 0 {
			x.fail("no rule for the CFA")
		}
	default:
		x.fail("a CFA of kind %d: want IN_REGISTER or SAVED_AT", row.CFA.Kind)
	}
	if (row.RA.Kind == trad.NotTracked || row.RA.Kind == trad.Undefined) && row.Flags&trad.Outermost == 0 {
		x.fail("PREVIOUS's PC is not told, and THIS is not outermost")
	}
	return row, x.err
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
	if len(p) == 4 {
		return uint64(e.arch.Order.Uint32(p)), nil
	}
	return e.arch.Order.Uint64(p), nil
}
