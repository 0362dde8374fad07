package python

import (
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/language"
)

// own returns the levels of the physical frames that are Python's own: calls of the evaluator, the
// functions by which it calls and is called, and functions of the interpreter without a name. What
// a program asked for by its own name stays: functions of extension modules, and of the
// interpreter's own modules where they have names.
func (r *interpreter) own(s *language.Stack, groups []language.Group) (levels []int) {
	if len(groups) == 0 {
		return nil
	}
	for _, f := range s.Frames {
		pc := f.AddressInBlock()
		if pc < r.module.Lo() || pc >= r.module.Hi() || f.Module() != r.module {
			continue
		}
		if r.evaluator.has(pc) || r.calls.own(r, pc) {
			levels = append(levels, f.Level)
		}
	}
	return levels
}

// calls says of places in the interpreter's code, by their addresses, whether they are in functions
// that are Python's own: most threads have the same ones.
type calls struct {
	mu   sync.Mutex
	list map[uint64]bool
}

// mostCalls bounds what is kept.
const mostCalls = 1 << 14

func (c *calls) own(r *interpreter, pc uint64) bool {
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
	own = isOwn(name)
	if c.list == nil || len(c.list) == mostCalls {
		c.list = map[uint64]bool{}
	}
	c.list[pc] = own
	return own
}

// isOwn reports whether a function of the interpreter is no more than how Python's functions call
// each other.
func isOwn(name string) bool {
	name, _, _ = strings.Cut(name, ".") // gcc's parts of functions: ".cold", ".part.0"
	if name == "" {
		return true
	}
	for _, prefix := range ownPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.Contains(name, "vectorcall") || strings.Contains(name, "Vectorcall")
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
