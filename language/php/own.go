package php

import (
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// mayRun reports whether a thread may run PHP: it has a frame of the engine's file.
func (e *engine) mayRun(s *language.Stack) bool {
	for _, f := range s.Frames {
		if pc := f.AddressInBlock(); pc >= e.module.Lo() && pc < e.module.Hi() && f.Module() == e.module {
			return true
		}
	}
	return false
}

// ownLevels returns the levels of the physical frames that are the engine's own: execute_ex, the
// functions by which it calls and is called, and functions of its file without a name. What has a
// name otherwise stays.
func (e *engine) ownLevels(s *language.Stack, groups []language.Group) (levels []int) {
	if len(groups) == 0 {
		return nil
	}
	for _, f := range s.Frames {
		pc := f.AddressInBlock()
		if pc < e.module.Lo() || pc >= e.module.Hi() || f.Type() != frame.Normal || f.Module() != e.module {
			continue
		}
		if e.execute.has(pc) || e.own.has(e, pc) {
			levels = append(levels, f.Level)
		}
	}
	return levels
}

// ownCode says of places in the engine's code, by their addresses, whether they are in functions
// that are its own.
type ownCode struct {
	mu   sync.Mutex
	list map[uint64]bool
}

// mostOwn bounds what is kept.
const mostOwn = 1 << 14

func (c *ownCode) has(e *engine, pc uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	own, known := c.list[pc]
	if known {
		return own
	}
	name := ""
	if sym, ok := e.image.Symbols().Find(pc - e.bias); ok {
		name = e.image.Symbols().Name(sym)
	}
	own = isOwn(name)
	if c.list == nil || len(c.list) == mostOwn {
		c.list = map[uint64]bool{}
	}
	c.list[pc] = own
	return own
}

// isOwn reports whether a function of the engine is no more than how functions of PHP call each
// other, and how a program is started.
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
	return false
}

// ownPrefixes begin the names of such functions, from Zend/zend_execute.c, zend_vm_execute.h,
// zend_execute_API.c, zend_interfaces.c, zend_generators.c, zend_fibers.c, zend.c and main/main.c.
var ownPrefixes = []string{
	"execute_ex", "zend_execute", "zend_call_", "_call_user_function", "ZEND_", "zend_vm_",
	"zend_generator_resume", "zend_generator_get_next", "zend_generator_iterator_", "zend_user_it_", "zend_fiber_", "zend_std_call_user_call",
	"php_execute_", "zend_eval_string", "php_request_startup", "zend_lookup_class", "zend_include_or_eval", "do_cli", "php_cli_",
}
