package ruby

import (
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/owncode"
)

// ownLevels returns the levels of the physical frames that are Ruby's own: calls of the evaluator,
// the functions by which it calls and is called, functions of the run time without a name, and the
// code of its compiler.
func (r *runtime) ownLevels(s *language.Stack, groups []language.Group) (levels []int) {
	if len(groups) == 0 {
		return nil
	}
	levels = r.own.Levels(s, nil)
	for _, f := range s.Frames {
		if f.Sniffer() == compiler {
			levels = append(levels, f.Level)
		}
	}
	return levels
}

// compiler is the sniffer that knows the code of YJIT.
const compiler = "yjit"

// isOwn reports whether a function of the run time is no more than how Ruby's methods call each
// other.
func isOwn(name string) bool { return owncode.Begins(name, ownPrefixes) }

// ownPrefixes begin the names of such functions, from vm*.c, eval.c, thread.c, cont.c and main.c.
var ownPrefixes = []string{
	"vm_", "rb_vm_", "rb_ec_", "rb_yield", "rb_funcall", "rb_call", "rb_block_call", "rb_iterate", "rb_lambda_call", "rb_check_funcall", "rb_check_block_call",
	"rb_ensure", "rb_rescue", "rb_vrescue", "rb_protect", "rb_catch", "rb_iseq_eval", "rb_proc_call", "rb_obj_call_init", "rb_obj_instance_exec", "rb_class_new_instance", "rb_eval_cmd",
	"rb_apply", "rb_public_", "rb_exec_recursive", "rb_current_receiver", "rb_send", "send_internal", "rb_mod_module_eval", "rb_obj_instance_eval",
	"call_cfunc", "call_method_entry", "invoke_", "ractor_safe_call_cfunc", "cfp_", "iterate_", "block_", "yield_under", "eval_under", "catch_i", "check_funcall", "rescue_",
	"thread_start_func", "thread_do_start", "thread_create", "rb_thread_create", "rb_fiber_start", "fiber_", "cont_", "nt_start", "co_start",
	"ruby_", "rb_main", "main", "_start", "exec_recursive", "jit_exec", "rb_load_", "rb_require_", "require_internal", "load_", "rb_f_require", "bmethod",
}
