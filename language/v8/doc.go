// Package v8 knows the frames of JavaScript and WebAssembly that V8 runs, as in Node.js.
//
// All of V8's code sets up a frame by the frame pointer. A frame of JavaScript has the function
// that runs there, and where it is interpreted, the bytecode and the place in it. Frames of
// compiled code lead to a Code object by the PC; the compilers note for each call which functions
// were inlined there. So the frames are on the stack itself; names, files and lines are in objects
// that the garbage collector may move.
//
// Async functions that wait are on the heap. It is looked through for the reactions of promises,
// each of which has the function that it resumes.
//
// What enters: a process with V8's variables v8dbg_*, which tell most of the layout of its
// objects. A table by V8's release has what these leave out; where a program with V8 has no such
// variables, another has these, too. Chromium's V8 packs its values; its release is known by the
// versions in the file, and its layout by V8's headers. What leaves: a [language.Decoration], whose
// groups each stand in the place of one physical frame, and [language.Task]s.
package v8
