// Package gdbtest asks gdb for the right answer, in tests.
//
// In goes the name of a target program under testdata/progs with compiler flags, or the PID of a
// process that stands still. Out comes the program, built and running in the state that its header
// comment promises (Build, Start), and gdb's own view of it: every frame of every thread
// (Backtrace), or the frames at each instruction of some functions together with the registers and
// the stack at that moment (RecordSteps). An unwinder can be run on exactly what gdb saw, and
// compared with it. Crash has a program die at a given instruction, with gdb's frames there, and
// Breakpad's client in it (BuildCrashing) writes a minidump.
//
// Nothing here computes an expected value; gdb does. Two debuggers cannot
// trace one process at a time: gdb has detached when a function returns.
//
// This package alone decides for all tests whether one is left out. A test that needs something
// that can be installed (Tool, File, Missing) is skipped, but fails if CI=true or
// SFWALK_REQUIRE_TOOLS=1 is set. A test that this machine cannot run whatever is installed (Cannot,
// NeedRoot, NeedAMD64), or that takes long (NeedSoak), is skipped.
package gdbtest
