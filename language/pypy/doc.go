// Package pypy knows the functions of Python that PyPy runs, interpreted and compiled.
//
// What enters: a process, in which the package finds PyPy by a symbol, and then stacks. What
// leaves: functions, each in the place of the physical frame that runs it.
//
// PyPy is translated from Python to C, which numbers the types of objects and lays out their fields
// anew in each build. A text in the file lists all types with their fields, for PyPy's own tools:
// so no table of a release is needed, and each object that is read says of which type it is.
//
// A thread has a list of its frames, and a list of records of PyPy's profiler (vmprof), which each
// function's interpreter and each frame of compiled code put there. Compiled code keeps frames in
// registers, and inlines calls. What it runs at an address is in a map that PyPy keeps for its
// profiler, too.
package pypy
