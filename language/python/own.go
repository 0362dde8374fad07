package python

import (
	"strings"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/owncode"
)

// ownLevels returns the levels of the physical frames that are Python's own: calls of the
// evaluator, the functions by which it calls and is called, and functions of the interpreter
// without a name. What a program asked for by its own name stays: functions of extension modules,
// and of the interpreter's own modules where they have names.
func (r *interpreter) ownLevels(s *language.Stack, groups []language.Group) (levels []int) {
	if len(groups) == 0 {
		return nil
	}
	return r.own.Levels(s, func(f *frame.Frame) bool { return r.evaluator.has(f.AddressInBlock()) })
}

// isOwn reports whether a function of the interpreter is no more than how Python's functions call
// each other.
func isOwn(name string) bool {
	return owncode.Begins(name, ownPrefixes) || strings.Contains(name, "vectorcall") || strings.Contains(name, "Vectorcall")
}

// ownPrefixes begin the names of such functions, from Python/ceval.c, Objects/call.c,
// Objects/typeobject.c, Objects/genobject.c, Python/pythonrun.c and Modules/main.c.
var ownPrefixes = []string{
	"_PyEval_", "PyEval_", "_TAIL_CALL_", "_PyFunction_", "function_code_fastcall",
	"_PyObject_Call", "PyObject_Call", "_PyObject_FastCall", "_PyObject_MakeTpCall", "object_vacall", "_PyCFunction_",
	"PyCFunction_Call", "_PyCallMethodDescriptor", "_PyCallBuiltin", "cfunction_", "method_", "call_function", "do_call_core", "callmethod", "_PyStack_", "_Py_CheckFunctionResult",
	"slot_", "vgetargs", "type_call", "wrap_", "wrapper_", "vectorcall_", "lookup_maybe_method", "call_",
	"gen_send", "gen_iternext", "gen_close", "_gen_throw", "gen_throw", "async_gen_", "coro_wrapper_", "PyIter_Send", "_PyGen_",
	"run_mod", "run_eval_code_obj", "pyrun_", "PyRun_", "_PyRun_", "pymain_", "Py_RunMain", "Py_BytesMain", "Py_Main", "run_eval",
	"thread_run", "pythread_wrapper", "t_bootstrap", "builtin_exec", "builtin_eval",
}
