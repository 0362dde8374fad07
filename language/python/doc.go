// Package python gives stacks the frames of Python's functions, as CPython runs them.
//
// What enters: a module with CPython's run time, and the stacks of threads. What leaves: Python's
// frames with functions, files and lines, each run of them in the place of the call of the
// evaluator that runs them.
//
// CPython's structures are other ones in each minor release. A layout has the offsets of their
// fields, by the names that CPython gives them: from 3.13 on the process tells them itself
// (_Py_DebugOffsets, in Include/internal/pycore_debug_offsets.h), and tables of layouts/ have them
// of earlier releases.
package python
