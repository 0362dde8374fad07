//go:build linux

package walk

const text = `The stack of internal/bench/programs/wait.c, whose functions' frames differ in size, in the
registers they save and in what their CFA is counted from, captured from a live process
(registers, and the bytes of the stack). frame.Walker, frame.Stack and framehop walk the
capture; libunwind walks the stack of a program that has the same functions, just as deep,
from inside (unw_step, unw_backtrace), and the captured process by ptrace. Medians of %d
rounds of 5 ms, in each of which all take turns; the rounds are of %d processes, for which
rows share a slot of a cache depends on where the system has mapped the program.

Warm: the rows of the stack's PCs are in the cache. Cold: every walk begins with an empty
cache; files are open and parsed as far as they have to be (frame.Walker and frame.Stack:
Reset; framehop: a new cache for each walk; libunwind: no cache at all). SFrame rows: of
the program; the C library's have to come from DWARF. All registers: the registers
of each frame are asked for, which takes DWARF's rows as well, where SFrame has not tracked them.`
