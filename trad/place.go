package trad

import (
	"errors"
	"fmt"
)

// Errors of [Row.Apply] and [Row.Place]; test with errors.Is.
var (
	ErrUnavailable = errors.New("register is not available")
	ErrNoRule      = errors.New("row has no usable rule")
)

// PlaceKind says what a [Place] is.
type PlaceKind uint8

const (
	Unknown  PlaceKind = iota // the row does not track the register: another row may
	Lost                      // the value is lost
	InThis                    // in register Reg of THIS frame, unchanged
	InMemory                  // in memory at Addr
	IsValue                   // the value is Addr itself
)

// Place is where one register of PREVIOUS is: a rule applied to one frame.
type Place struct {
	Kind PlaceKind
	Reg  Reg    // for InThis
	Addr uint64 // an address for InMemory, the value for IsValue
}

// Apply applies the row to one frame: it computes the CFA of THIS. An error wraps
// [ErrUnavailable], [ErrNoRule], or the error of env.Word or of an expression.
func (row *Row) Apply(env Env) (cfa uint64, err error) {
	p, err := row.place(row.CFA, 0, env, 0, false)
	if err != nil {
		return 0, fmt.Errorf("CFA: %w", err)
	}
	switch p.Kind {
	case IsValue:
		return p.Addr, nil
	case InMemory:
		if cfa, err = env.Word(p.Addr); err != nil {
			return 0, fmt.Errorf("CFA: %w", err)
		}
		return cfa, nil
	}
	return 0, fmt.Errorf("CFA: %w", ErrNoRule)
}

// Place applies rule, which is the row's for register reg, to a frame with the CFA cfa, which
// [Row.Apply] returns. The frame is the row's own, or one that the row completes. Errors are as for
// Row.Apply.
func (row *Row) Place(rule Rule, reg Reg, env Env, cfa uint64) (Place, error) {
	return row.place(rule, reg, env, cfa, true)
}

func (row *Row) place(rule Rule, reg Reg, env Env, cfa uint64, hasCFA bool) (Place, error) {
	switch rule.Kind {
	case NotTracked:
		return Place{}, nil
	case Same:
		return Place{Kind: InThis, Reg: reg}, nil
	case Undefined:
		return Place{Kind: Lost}, nil
	case Saved, Value:
		if !hasCFA {
			return Place{}, ErrNoRule
		}
		p := Place{Kind: InMemory, Addr: rule.At(cfa)}
		if rule.Kind == Value {
			p.Kind = IsValue
		}
		return p, nil
	case SavedAt, InReg:
		if rule.Kind == InReg && rule.Off == 0 && hasCFA {
			return Place{Kind: InThis, Reg: rule.Reg}, nil
		}
		v, ok := env.Register(rule.Reg)
		if !ok {
			return Place{}, UnknownRegister(env, rule.Reg)
		}
		p := Place{Kind: InMemory, Addr: rule.At(v)}
		if rule.Kind == InReg {
			p.Kind = IsValue
		}
		return p, nil
	case Expr, ValExpr:
		if row.Others == nil || rule.Off < 0 || int(rule.Off) >= len(row.Others.Exprs) {
			return Place{}, fmt.Errorf("expression %d: %w", rule.Off, ErrNoRule)
		}
		v, err := row.Others.Exprs[rule.Off].Eval(env, cfa, hasCFA)
		if err != nil {
			return Place{}, err
		}
		p := Place{Kind: InMemory, Addr: v}
		if rule.Kind == ValExpr {
			p.Kind = IsValue
		}
		return p, nil
	}
	return Place{}, fmt.Errorf("rule kind %d: %w", rule.Kind, ErrNoRule)
}

// UnknownRegister returns the error that says that env does not know a register: an [Expression]
// returns it from Eval. It wraps [ErrUnavailable]. If env has a method RegName(Reg) string, the
// error's text names the register, else it has the number.
func UnknownRegister(env Env, r Reg) error {
	if names, ok := env.(interface{ RegName(Reg) string }); ok {
		return fmt.Errorf("register %s: %w", names.RegName(r), ErrUnavailable)
	}
	return fmt.Errorf("register %d: %w", r, ErrUnavailable)
}
