package trad

import (
	"fmt"
	"strings"
)

// Format renders the row as `CFA=rsp+40 RA=[CFA-8] FP=[CFA-16]`. name returns a register's
// name; if it is nil, the names are r7 and the like.
func (r *Row) Format(name func(Reg) string) string {
	if name == nil {
		name = func(reg Reg) string { return fmt.Sprintf("r%d", reg) }
	}
	var b strings.Builder
	cell := func(what string, rule Rule) {
		if rule.Kind == NotTracked {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(what)
		b.WriteByte('=')
		b.WriteString(r.format(rule, name))
	}
	cell("CFA", r.CFA)
	cell("RA", r.RA)
	cell("FP", r.FP)
	if r.Others != nil {
		for _, x := range r.Others.Regs {
			cell(name(x.Reg), x.Rule)
		}
	}
	for _, f := range flagNames {
		if r.Flags&f.flag != 0 {
			b.WriteString(" " + f.name)
		}
	}
	return strings.TrimSpace(b.String())
}

var flagNames = []struct {
	flag Flags
	name string
}{
	{Signal, "signal"}, {Outermost, "outermost"}, {MangledRA, "mangled-ra"},
	{Guess, "guess"}, {Once, "once"}, {InPrologue, "in-prologue"}, {OtherStack, "other-stack"},
	{Injected, "injected"}, {Dummy, "dummy"}, {Inline, "inline"}, {TailCall, "tail-call"},
}

func (r *Row) format(rule Rule, name func(Reg) string) string {
	switch rule.Kind {
	case NotTracked:
		return "?"
	case Same:
		return "same"
	case Undefined:
		return "undefined"
	case Saved:
		return "[CFA" + offset(rule.Off) + "]"
	case Value:
		return "CFA" + offset(rule.Off)
	case SavedAt:
		return "[" + name(rule.Reg) + offset(rule.Off) + "]"
	case InReg:
		return name(rule.Reg) + offset(rule.Off)
	case Expr, ValExpr:
		s := "expr"
		if r.Others != nil && rule.Off >= 0 && int(rule.Off) < len(r.Others.Exprs) {
			s = r.Others.Exprs[rule.Off].String()
		}
		if rule.Kind == Expr {
			return "[" + s + "]"
		}
		return s
	}
	return fmt.Sprintf("rule(%d)", rule.Kind)
}

func offset(n int32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%+d", n)
}
