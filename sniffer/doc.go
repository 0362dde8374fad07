// Package sniffer has the default order of the sniffers and finds them by name.
// Each sniffer is a package of its own below this one.
//
// The names, in order; a test compares them with [AllNames]:
//
//	sigtramp        signal frames, by the code that returns from them
//	sframe          code with an SFrame section
//	go              functions of Go, by the table that every Go program has
//	go-systemstack  here and in the next four, Go's run time changes stacks
//	go-asmcgocall
//	go-cgocallback
//	go-morestack
//	go-mcall
//	coreclr-hijack  the stub by which .NET's run time stops threads
//	luajit          LuaJIT's virtual machine, and the traces that it has compiled
//	fp              code whose table promises a frame pointer
//	dwarf           code with DWARF call frame information
//	ehabi           32-bit Arm, by its exception tables
//	pdata           processes of Windows, by their unwind codes (Options.Windows)
//	breakpad        modules with Breakpad's symbol files (Options.Symbols)
//	hotspot         code that a Java virtual machine has made
//	zend            code that PHP's compiler has made
//	coreclr         code of .NET, compiled at run time or brought along
//	beam            code that Erlang's run time system has compiled
//	sbcl            code of Common Lisp that SBCL has compiled
//	yjit            code that Ruby's compiler (YJIT) has made
//	pypy            code that the compiler of PyPy (Python) makes
//	v8              code that V8 (Node.js, Chromium) has optimized, and that is not valid any more
//	prologue        code without any table, by its instructions
//	fp-guess        any frame with a plausible frame pointer: a guess
//	scan            return addresses among the words of the stack: a guess (Options.Scan)
package sniffer
