// Package inferior has the words for a process that is held and controlled, makes it call
// functions, and runs it by frames. Inferior is GDB's word.
//
// A [Process] is a target whose threads stand still: its stacks can be walked, its registers and
// its memory can be written. It runs only when somebody has it run, and stops again at the next
// [Event]. Package inferior/native holds this machine's processes so, inferior/stub the processes
// that GDB remote stubs control. A debugger may implement Process for processes that it holds
// itself.
//
// A [Caller] has a thread call functions. The types of arguments and results (package arch/abi) go
// in, and bytes come out; the thread is as it was before. A [Runner] runs a thread until a frame
// has returned, or a call has been stepped over, and ends frames without running them: IDs of
// frames go in.
package inferior
