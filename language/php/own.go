package php

import (
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/owncode"
)

// mayRun reports whether a thread may run PHP: it has a frame of the engine's file.
func (e *engine) mayRun(s *language.Stack) bool { return slices.ContainsFunc(s.Frames, e.own.Has) }

// ownLevels returns the levels of the physical frames that are the engine's own: execute_ex, the
// functions by which it calls and is called, and functions of its file without a name. What has a
// name otherwise stays.
func (e *engine) ownLevels(s *language.Stack, groups []language.Group) (levels []int) {
	if len(groups) == 0 {
		return nil
	}
	return e.own.Levels(s, func(f *frame.Frame) bool { return e.execute.has(f.AddressInBlock()) })
}

// isOwn reports whether a function of the engine is no more than how functions of PHP call each
// other, and how a program is started.
func isOwn(name string) bool { return owncode.Begins(name, ownPrefixes) }

// ownPrefixes begin the names of such functions, from Zend/zend_execute.c, zend_vm_execute.h,
// zend_execute_API.c, zend_interfaces.c, zend_generators.c, zend_fibers.c, zend.c and main/main.c.
var ownPrefixes = []string{
	"execute_ex", "zend_execute", "zend_call_", "_call_user_function", "ZEND_", "zend_vm_",
	"zend_generator_resume", "zend_generator_get_next", "zend_generator_iterator_", "zend_user_it_", "zend_fiber_", "zend_std_call_user_call",
	"php_execute_", "zend_eval_string", "php_request_startup", "zend_lookup_class", "zend_include_or_eval", "do_cli", "php_cli_",
}
