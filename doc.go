// Package sfwalk is a stack unwinder for live processes, core files and remote targets,
// built as GDB's is: a chain of frames asks an ordered list of sniffers who can unwind each
// of them. This package has no code. The command is cmd/sfwalk; these are the packages, by
// who imports them.
//
// Debuggers, profilers and crash tools begin here (docs/embedding.md):
//
//	frame            the engine: Stack with all registers, Walker without allocation
//	sniffer          the default table of sniffers
//	symbol           functions, files and lines, inlined calls, ends of prologues
//	symbol/tables    names from PE files, and from a folder of Breakpad's symbol files
//	logical          stacks with inlined and tail-called frames; all that a debugger shows of one
//	language         frames of languages, such as Python's and Java's, in the place of physical ones
//	language/decorators  the usual list of decorators
//	language/async/cpp  coroutines of C++
//	language/async/fibers  fibers of Boost.Fiber
//	language/async/rust  tasks of Rust, as tokio runs them
//	language/dotnet  .NET's, as CoreCLR runs it
//	language/java    Java's, as HotSpot runs it
//	language/mono    Mono's: methods that it has compiled
//	language/bash    the ones of scripts that bash runs
//	language/lua     Lua's, with its coroutines
//	language/luajit  Lua's, as LuaJIT runs it
//	language/perl    Perl's, with the run loops of its subs
//	language/php     PHP's, as the Zend engine runs it
//	language/beam    Erlang's and Elixir's, as BEAM runs them
//	language/sbcl    Common Lisp's, as SBCL compiles them
//	language/python  Python's, as CPython runs it
//	language/pypy    Python's, as PyPy runs it
//	language/r       R's, by its contexts
//	language/tcl     Tcl's, by its records of commands
//	language/guile   Guile's, by its virtual machine's stack
//	language/racket  Racket's and Chez Scheme's, by their stack on the heap
//	language/ruby    Ruby's, as CRuby runs it
//	language/v8      JavaScript's, as V8 runs it in Node.js
//	value            arguments and local variables of frames
//	value/printers   how values of libraries and languages are written: the list of printers
//	picture          many stacks as one picture: for pprof, flame graphs, speedscope
//	record           samples of running processes, walked as they come: a profiler (docs/recording.md)
//	goroutine        the goroutines of a Go program, also of a stripped one
//	target           what a process is: implement it for a process that you control
//	target/live      a live Linux process
//	target/capture   the program's own goroutines, C's frames included
//	target/core      a core file
//	target/minidump  a minidump: a crash report of Windows, Breakpad or Crashpad
//	target/snapshot  a process saved for later, as a value and as a file
//	target/remote    the target of a GDB remote stub
//
// Authors of targets also use these:
//
//	arch             descriptors of processors, registers of threads
//	arch/amd64       x86-64
//	arch/arm         32-bit Arm
//	arch/arm64       AArch64
//	arch/i386        32-bit x86
//	arch/s390x       IBM z/Architecture
//	format/elf       ELF images, in files and in memory
//	target/procmaps  the kernel's list of mappings
//	target/jit       code registered with GDB's JIT interface
//
// Authors of sniffers in Go choose from the single sniffers, and state rows with trad. The
// sniffers that are not listed are internal: [sniffer.ByName] makes them.
//
//	trad               rows: where PREVIOUS's registers are, for a range of PCs
//	sniffer/dwarf      DWARF call frame information
//	sniffer/fp         frame pointers and back chains
//	sniffer/framebase  bases of frames by debug information
//	sniffer/prologue   code without tables, by its instructions
//	sniffer/sframe     SFrame sections
//
// Authors of plug-ins, sniffers that are programs of their own, import plugin
// (docs/writing-a-sniffer.md); programs that ask plug-ins import sniffer/external:
//
//	plugin                  serves a plug-in
//	plugin/protocol         the messages
//	sniffer/external        starts plug-ins, asks them, checks their answers
//
// Tools for toolchains and for files read and write the formats alone:
//
//	format/sframe            SFrame sections: read, write, convert, join (docs/sframe.md)
//	format/sframe/object     SFrame in ELF files, relocatable ones too
//	format/sframe/fromcfi    SFrame made from DWARF
//	format/sframe/separate   SFrame in files of its own, by build ID
//	format/cfi               DWARF call frame information
//	format/dwarf             DWARF debug information, part by part
//	format/dwarf/expr        DWARF expressions: where an object is
//	format/exidx             32-bit Arm's exception tables
//	format/gopclntab         the function table of Go binaries
//	format/breakpad          Breakpad's symbol files: read, write, search
//	format/breakpad/fromelf  Breakpad's symbol files made of ELF files (docs/symbol-files.md)
//	format/minidump          minidumps: all that they say
//	format/pages             bytes of large tables, read page by page: what these readers take
//	format/pdata             unwind tables of Windows' programs for amd64
//	format/pe                PE images, of files and of memory
//	format/perfdata          the files of Linux's perf record
//	format/siginfo           the kernel's siginfo_t: which signal came, and why
//	format/perfevent         what perf_event_open(2) tells of programs that run
//
// Programs with Delve in them (Linux, amd64 and arm64):
//
//	delve         whole stacks for processes that Delve controls
//	delve/server  Delve's clients, served with these stacks
//
// Debuggers that have a process do something:
//
//	inferior            a process that is held and controlled; calls of functions
//	inferior/native     such a process of this machine, by ptrace
//	inferior/stub       such a process that a GDB remote stub controls
//	sniffer/dummy       frames of functions that a debugger calls
//	arch/control        what it takes to hold a thread of a processor
//	arch/abi            types of functions; where arguments and results are
//
// Authors of a new architecture, beside arch:
//
//	arch/dataflow     prologue-value analysis: prologues, epilogues, frames
//	arch/ahead        machine code read forward to its return
//	arch/disassembly  instructions as the GNU tools write them
package sfwalk
