package value

import (
	"debug/dwarf"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/trad"
)

// environment is what expressions are evaluated with. A reader has one: to make its functions for
// each frame would cost more than most evaluations.
type environment struct {
	dwarfexpr.Context
	now evaluating
}

// evaluating is an evaluation that is under way.
type evaluating struct {
	c       *context
	at      *symbol.Entry // has the expression
	address func(index uint64) (uint64, error)
	object  *uint64 // address of the object that the expression is about; nil if it is about none
	failure *dwarfexpr.Failure
}

// enter begins the evaluation of an expression of an entry, and returns the one that it interrupts:
// evaluations nest.
func (env *environment) enter(c *context, e *symbol.Entry, x *symbol.Expression) evaluating {
	if env.Register == nil {
		env.open()
	}
	before := env.now
	env.set(evaluating{c: c, at: e, address: x.Address, object: c.object})
	return before
}

// leave goes on with an evaluation that was interrupted.
func (env *environment) leave(before evaluating) { env.set(before) }

func (env *environment) set(now evaluating) {
	env.now, env.Address, env.Bias, env.Failure = now, now.address, 0, now.failure
	if now.c != nil {
		env.Bias, env.Word = now.c.scopes.bias, now.c.r.Arch.PtrSize
	}
}

// open sets up the functions.
func (env *environment) open() {
	now := &env.now
	env.Context = dwarfexpr.Context{
		Register: func(reg trad.Reg) (uint64, error) { return now.c.register(reg) },
		Typed:    func(reg trad.Reg, t dwarfexpr.Type) ([]byte, error) { return now.c.typedRegister(reg, t) },
		RegName:  func(reg trad.Reg) string { return now.c.r.Arch.RegName(reg) },
		More:     func(steps int) bool { return now.c.r.Budget.Spend(steps / costSteps) },
		Memory: func(addr uint64, b []byte) error {
			now.c.r.Budget.Spend(costRead)
			return readMemory(now.c.mem, now.c.r.Arch.Wrap(addr), b)
		},
		CFA:        func() (uint64, error) { return now.c.cfa() },
		FrameBase:  func() (uint64, error) { return now.c.frameBase() },
		TLS:        func(off uint64) (uint64, error) { return now.c.threadLocal(off) },
		EntryValue: func(x dwarfexpr.Expression) (dwarfexpr.Location, error) { return now.c.entryValue(x) },
		Parameter: func(ref uint64) (uint64, error) {
			to := now.at.At(ref, true)
			l, err := now.c.callerArgument(func(p *callParameter) bool {
				return p.entry.Reference(dwarf.AttrCallParameter) == to || p.entry.Reference(dwarf.AttrAbstractOrigin) == to
			})
			return l.Bits, err
		},
		Object: func() (uint64, error) {
			if now.object == nil {
				return 0, ErrUnavailable
			}
			return *now.object, nil
		},
		Call: func(op byte, ref uint64) ([]byte, error) {
			return now.c.called(now.at.At(ref, op != dwarfdata.OpCallRef))
		},
		Type:     func(ref uint64) (dwarfexpr.Type, error) { return now.c.r.stackType(now.at.At(ref, true)) },
		Variable: func(ref uint64) (uint64, error) { return now.c.valueOf(now.at.At(ref, false)) },
	}
}
