package libstdcxx

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/internal/cxx"
)

// regexState writes a state of the automaton of a regular expression.
func regexState(o object) *value.Shown {
	m, ok := cxx.Member(o.V, "_M_opcode")
	next, ok2 := o.Number("_M_next")
	if !ok || !ok2 {
		return nil
	}
	code, err := o.W.Text(&m)
	if err != nil {
		return &value.Shown{Err: err}
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
	if v, ok := cxx.Member(o.V, "_M_"+member); ok {
		of, err := o.W.Text(&v)
		if err != nil {
			return &value.Shown{Err: err}
		}
		text += ", " + member + "=" + of
	}
	return &value.Shown{Text: text + "}"}
}
