// Package php knows the frames of PHP: what its interpreter, the Zend engine, runs.
//
// Each call of a function of PHP has a record, zend_execute_data, on a stack that the engine keeps
// on the heap; records are linked from callee to caller. One frame of C, of execute_ex, runs many
// of them: it is entered anew where C calls PHP. Its registers say which record it runs, and which
// instruction.
//
// The structures are known by tables, one for each release, which language/php/generate makes from
// PHP's headers.
package php
