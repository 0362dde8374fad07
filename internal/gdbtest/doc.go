// Package gdbtest asks gdb for the right answer, in tests.
//
// Enters: the name of a target program under testdata/progs and compiler
// flags, or the PID of a process that stands still. Leaves: the program built
// and running in the state that its header comment promises (Build, Start),
// and gdb's own view of it: every frame of every thread (Backtrace), or the
// frames at each instruction of some functions together with the registers
// and the stack at that moment (RecordSteps), so that an unwinder can be run
// on exactly what gdb saw and be compared with it.
//
// Nothing here computes an expected value; gdb does. Two debuggers cannot
// trace one process at a time: gdb has detached when a function returns.
//
// Whether a test can be left out is decided here alone, for all tests: one that needs what can be
// installed (Tool, File, Missing) is skipped, and fails instead if CI=true or
// SFWALK_REQUIRE_TOOLS=1 is set; one that this machine cannot run whatever is installed (Cannot,
// NeedRoot, NeedAMD64), or that takes long (NeedSoak), is skipped.
package gdbtest
