package fromcfi

import (
	"math"
	"strings"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	// maxWork bounds the evaluations of all expressions of a Source. An evaluation counts once if
	// the expression is known to be short, else fourfold. An entry of a PLT takes 48.
	maxWork = 1 << 22
	// maxSteps bounds the operations of an expression that is evaluated for more
	// than one PC.
	maxSteps = 32
	// maxDetail bounds the text of an expression, in bytes.
	maxDetail = 200
)

// pcColumn is the PC's register number in DWARF for AMD64, the return address column. The other
// ABIs have no number for the PC.
const pcColumn = 16

// expression finds the rule for an expression. It evaluates the expression on sets of made-up
// registers. The rule is found if all results lie at the same distance from the same register, or
// from the CFA, or if all are the values that memory holds there.
//
// The second set is the complement of the first, so that no two values share a bit. So results that
// an expression has rounded differ in distance.
func (t *translation) expression(name string, rule trad.Rule) sframe.Rule {
	x := t.line.Others.Exprs[rule.Off]
	var is sframe.Rule
	for set := range uint64(3) {
		if t.s.work++; !t.row.varies {
			t.s.work += 3
		}
		if t.s.work > maxWork {
			return t.cannot("", "there are too many expressions")
		}
		e := imagined{set: set, pc: t.pc, hasPC: t.s.ABI == sframe.AMD64}
		v, err := x.Eval(&e, e.number(cfaNumber), name != "CFA")
		if err != nil {
			return t.cannot(err.Error(), "the expression of %s cannot be evaluated", name)
		}
		if e.usedPC && !t.row.varies {
			text := t.text(x)
			if len(text) >= maxDetail || strings.Count(text, ";") >= maxSteps || strings.Contains(text, "bra") || strings.Contains(text, "skip") {
				return t.cannot(text, "the expression of %s depends on the PC and is long", name)
			}
			t.row.varies = true
		}
		found, ok := e.name(v, name != "CFA")
		if ok && rule.Kind == trad.Expr {
			found.Kind, ok = dereferenced(found.Kind)
		}
		if !ok || set > 0 && found != is {
			return t.cannot(t.text(x), "SFrame has no form for the expression of %s", name)
		}
		is = found
	}
	return is
}

// text renders an expression, cut to maxDetail bytes.
func (t *translation) text(x trad.Expression) string {
	text := x.String()
	t.s.work += len(text) / 64
	if len(text) > maxDetail {
		return text[:maxDetail] + "…"
	}
	return text
}

// dereferenced returns the kind of rule for the value in memory at the address that a rule of kind
// k gives. It reports false if there is none.
func dereferenced(k sframe.RuleKind) (sframe.RuleKind, bool) {
	switch k {
	case sframe.RuleInReg:
		return sframe.RuleSavedAt, true
	case sframe.RuleValue:
		return sframe.RuleSaved, true
	}
	return k, false
}

// cfaNumber stands for the CFA among the register numbers.
const cfaNumber = math.MaxUint16 + 1

// imagined is a set of registers and a memory. They hold numbers that are unlikely to be near each
// other. It remembers the registers and addresses that an evaluation reads.
type imagined struct {
	set    uint64
	pc     uint64
	hasPC  bool
	usedPC bool
	regs   [4]trad.Reg // read
	words  [2]uint64   // addresses read
	nRegs  int
	nWords int
}

// mix spreads a number over 64 bits (the finalizer of MurmurHash3).
func mix(v uint64) uint64 {
	v = (v ^ v>>33) * 0xff51afd7ed558ccd
	v = (v ^ v>>33) * 0xc4ceb9fe1a85ec53
	return v ^ v>>33
}

// number returns the value of a register, or of the CFA, in this set.
func (e *imagined) number(n uint64) uint64 {
	if e.set == 1 {
		return ^mix(n + 1)
	}
	return mix(n + 1 + e.set<<32)
}

// Register implements [trad.Env].
func (e *imagined) Register(r trad.Reg) (uint64, bool) {
	if e.hasPC && r == pcColumn {
		e.usedPC = true
		return e.pc, true
	}
	if e.nRegs < len(e.regs) {
		e.regs[e.nRegs] = r
	}
	e.nRegs++
	return e.number(uint64(r)), true
}

// Word implements [trad.Env].
func (e *imagined) Word(addr uint64) (uint64, error) {
	if e.nWords < len(e.words) {
		e.words[e.nWords] = addr
	}
	e.nWords++
	return e.memory(addr), nil
}

// memory returns the value at an address.
func (e *imagined) memory(addr uint64) uint64 { return mix(addr ^ 0x5bd1e9955bd1e995) }

// name returns the rule for v, the result of an evaluation.
func (e *imagined) name(v uint64, hasCFA bool) (sframe.Rule, bool) {
	if e.nRegs > len(e.regs) || e.nWords > len(e.words) {
		return sframe.Rule{}, false
	}
	if rule, ok := e.near(v, hasCFA); ok {
		return rule, true
	}
	for _, addr := range e.words[:e.nWords] {
		if v != e.memory(addr) {
			continue
		}
		if rule, ok := e.near(addr, hasCFA); ok {
			rule.Kind, ok = dereferenced(rule.Kind)
			return rule, ok
		}
	}
	return sframe.Rule{}, false
}

// near returns the rule for v as an offset of 32 bits from a register that was read or, with
// hasCFA, from the CFA.
func (e *imagined) near(v uint64, hasCFA bool) (sframe.Rule, bool) {
	for _, r := range e.regs[:e.nRegs] {
		if off := int64(v - e.number(uint64(r))); off == int64(int32(off)) {
			return sframe.Rule{Kind: sframe.RuleInReg, Reg: uint16(r), Off: int32(off)}, true
		}
	}
	if hasCFA {
		if off := int64(v - e.number(cfaNumber)); off == int64(int32(off)) {
			return sframe.Rule{Kind: sframe.RuleValue, Off: int32(off)}, true
		}
	}
	return sframe.Rule{}, false
}
