package perl

import "github.com/sfwalk/sfwalk/language/internal/owncode"

// hidden returns the levels of physical frames that are perl's own: outside of the innermost run
// loop, how subs call each other. What the innermost loop has called stays, for it is what the
// program does.
func (r *runtime) hidden(own []ownFrame, h hosts) (levels []int) {
	if len(h.list) == 0 {
		return nil
	}
	inner := h.list[0].level
	for _, o := range own {
		if r.inLoop(o.pc) || r.entersub.has(o.pc) || o.level > inner && r.own.Own(o.pc) {
			levels = append(levels, o.level)
		}
	}
	return levels
}

// onlyCalls reports whether a function is no more than how perl's subs are called. Functions
// without names are perl's static ones.
func onlyCalls(name string) bool { return owncode.Begins(name, callers) }

// callers begin the names of such functions.
var callers = []string{
	"Perl_call_", "S_call_", "Perl_runops_", "perl_run", "S_run_body", "perl_parse", "S_parse_body", "main", "S_docatch", "docatch",
	"Perl_pp_entersub", "Perl_pp_goto", "Perl_pp_entertry", "Perl_pp_entereval", "Perl_pp_require", "S_require", "Perl_eval_sv", "Perl_eval_pv",
	"Perl_amagic_call", "Perl_magic_methcall", "S_magic_methcall", "Perl_magic_methpack",
}
