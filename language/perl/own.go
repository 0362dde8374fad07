package perl

import (
	"strings"
	"sync"
)

// hidden returns the levels of physical frames that are perl's own: outside of the innermost run
// loop, how subs call each other. What the innermost loop has called stays, for it is what the
// program does.
func (r *runtime) hidden(own []ownFrame, h hosts) (levels []int) {
	if len(h.list) == 0 {
		return nil
	}
	inner := h.list[0].level
	for _, o := range own {
		if r.inLoop(o.pc) || r.entersub.has(o.pc) || o.level > inner && r.own.own(r, o.pc) {
			levels = append(levels, o.level)
		}
	}
	return levels
}

// ownFunctions says of places in perl's code, by their addresses, whether they are in functions
// that only call subs: most threads have the same ones.
type ownFunctions struct {
	mu   sync.Mutex
	list map[uint64]bool
}

// mostOwn bounds what is kept.
const mostOwn = 1 << 14

func (c *ownFunctions) own(r *runtime, pc uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	own, known := c.list[pc]
	if known {
		return own
	}
	name := ""
	if sym, ok := r.image.Symbols().Find(pc - r.bias); ok {
		name = r.image.Symbols().Name(sym)
	}
	if c.list == nil || len(c.list) == mostOwn {
		c.list = map[uint64]bool{}
	}
	own = onlyCalls(name)
	c.list[pc] = own
	return own
}

// onlyCalls reports whether a function is no more than how perl's subs are called. Functions
// without names are perl's static ones.
func onlyCalls(name string) bool {
	name, _, _ = strings.Cut(name, ".") // gcc's parts of functions: ".cold", ".part.0"
	if name == "" {
		return true
	}
	for _, prefix := range []string{
		"Perl_call_", "S_call_", "Perl_runops_", "perl_run", "S_run_body", "perl_parse", "S_parse_body", "main", "S_docatch", "docatch",
		"Perl_pp_entersub", "Perl_pp_goto", "Perl_pp_entertry", "Perl_pp_entereval", "Perl_pp_require", "S_require", "Perl_eval_sv", "Perl_eval_pv",
		"Perl_amagic_call", "Perl_magic_methcall", "S_magic_methcall", "Perl_magic_methpack",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
