package trad

// Reg is a register number as the architecture's DWARF supplement gives it.
type Reg uint16

// Kind says how a [Rule] finds a register of PREVIOUS.
type Kind uint8

const (
	// NotTracked: the unwind information says nothing about the register. Another
	// sniffer may complete the answer; it is never to be read as Same.
	NotTracked Kind = iota
	// Same: THIS frame has not changed the register.
	Same
	// Undefined: the register's value in PREVIOUS is lost. An undefined return
	// address marks the outermost frame.
	Undefined
	// Saved in memory at CFA+Off.
	Saved
	// Value is the number CFA+Off itself.
	Value
	// SavedAt: in memory at Reg+Off, Reg being a register of THIS frame.
	SavedAt
	// InReg: the number Reg+Off, Reg being a register of THIS frame.
	InReg
	// Expr: in memory at the address that the expression OtherRules.Exprs[Off] gives.
	Expr
	// ValExpr: the number that the expression OtherRules.Exprs[Off] gives.
	ValExpr
)

// Rule is one cell of a row: where one register of PREVIOUS, or the CFA, is.
// The CFA itself uses only InReg (its common form, Reg+Off), SavedAt and ValExpr.
type Rule struct {
	Kind Kind
	Reg  Reg   // base register of SavedAt and InReg
	Off  int32 // offset in bytes; for Expr and ValExpr the index into OtherRules.Exprs
}

// At returns the address Off bytes from base: where a register is Saved, base being the CFA, or
// SavedAt, base being register Reg of THIS.
func (r Rule) At(base uint64) uint64 { return base + uint64(int64(r.Off)) }

// Flags say what a row means beside its rules.
type Flags uint16

const (
	Signal     Flags = 1 << iota // THIS is a signal trampoline: PREVIOUS was interrupted, not calling
	Outermost                    // THIS has no PREVIOUS: the unwind information says so
	MangledRA                    // the return address is signed (pointer authentication)
	Guess                        // found without unwind information: may be wrong
	Once                         // true for this one frame only: not to be cached by PC
	InPrologue                   // the PC is where the frame is being set up or torn down
	OtherStack                   // PREVIOUS is on another stack, which may lie anywhere: a coroutine's, a thread's own
	Injected                     // a run-time system has made PREVIOUS call THIS where it was: PREVIOUS was interrupted
	Dummy                        // THIS is a call that a debugger has made PREVIOUS make where it was
	Inline                       // THIS is an inlined call, PREVIOUS what has made it: both may have one CFA
	TailCall                     // THIS has left by a tail call: PREVIOUS may have its CFA
)

// Row says how to find PREVIOUS while the PC of THIS is in [Lo, Lo+Len).
//
// Addresses are run-time ones. The three rules are all that SFrame tracks and
// all that a fast walk needs. A row fills one cache line together with the key
// of the slot that it is cached in, so it holds no more than this.
type Row struct {
	Lo     uint64
	Len    uint32
	Flags  Flags
	CFA    Rule
	RA     Rule
	FP     Rule
	Others *OtherRules // other registers and expressions; nil if there are none; never changed once set
}

// OtherRules holds the rules of a row that few frames need. Rows share it.
type OtherRules struct {
	Regs  []RegRule // ascending by Reg; the RA column and FP stand in the Row, not here
	Exprs []Expression
	// Default is the rule of a register that Regs does not list: NotTracked
	// where the unwind information cannot speak of it, Same where silence means
	// "unchanged" for the callee-saved registers (DWARF).
	Default Kind
}

// RegRule is the rule of one register.
type RegRule struct {
	Reg  Reg
	Rule Rule
}

// Contains reports whether the row holds for pc.
func (r *Row) Contains(pc uint64) bool { return pc-r.Lo < uint64(r.Len) }

// Rule returns the rule of a register other than the row's RA and FP.
func (x *OtherRules) Rule(reg Reg) Rule {
	if x == nil {
		return Rule{}
	}
	if i, ok := x.find(reg); ok {
		return x.Regs[i].Rule
	}
	return Rule{Kind: x.Default}
}

// Lists reports whether Regs has a rule for the register, so that Default does not apply.
func (x *OtherRules) Lists(reg Reg) bool {
	if x == nil {
		return false
	}
	_, ok := x.find(reg)
	return ok
}

// find looks through the registers one by one: there are few.
func (x *OtherRules) find(reg Reg) (int, bool) {
	for i := range x.Regs {
		if x.Regs[i].Reg >= reg {
			return i, x.Regs[i].Reg == reg
		}
	}
	return len(x.Regs), false
}

// Env is what rules read: the registers of THIS frame, and the memory of the target.
type Env interface {
	// Register returns the value of a register of THIS frame; ok is false if it
	// is not known.
	Register(Reg) (v uint64, ok bool)
	// Word reads one word of the target's pointer size and byte order.
	Word(addr uint64) (uint64, error)
}

// Expression computes an address or a value, as a DWARF expression does
// (DWARF 5, section 2.5). Implementations bound their own running time.
type Expression interface {
	// Eval runs the expression. If hasCFA is true, as for every rule but the CFA's own, evaluation
	// starts with cfa on its stack.
	Eval(env Env, cfa uint64, hasCFA bool) (uint64, error)
	String() string
}
