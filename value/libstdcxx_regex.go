package value

import (
	"fmt"
	"strings"
)

// regexState writes a state of the automaton of a regular expression.
func regexState(o *object) *shown {
	m, ok := o.v.member("_M_opcode")
	next, ok2 := o.number("_M_next")
	if !ok || !ok2 {
		return nil
	}
	code, err := o.w.inner(&m)
	if err != nil {
		return &shown{err: err}
	}
	_, code, ok = strings.Cut(code, "_S_opcode_")
	if !ok {
		return nil
	}
	text := fmt.Sprintf("{opcode=%s, next=%d", code, next)
	member := ""
	switch code {
	case "repeat", "alternative":
		member = "alt"
	case "subexpr_begin", "subexpr_end":
		member = "subexpr"
	case "word_boundary", "subexpr_lookahead":
		member = "neg"
	case "backref":
		member = "backref_index"
	}
	if v, ok := o.v.member("_M_" + member); ok {
		of, err := o.w.inner(&v)
		if err != nil {
			return &shown{err: err}
		}
		text += ", " + member + "=" + of
	}
	return &shown{text: text + "}"}
}
