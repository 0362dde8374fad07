// Package dummy is the sniffer of frames that stand for calls that a debugger has a thread make (GDB's dummy
// frames).
//
// The debugger enters each call into [Frames]: the address to which the function will return, its SP
// then, and the registers that the thread had before. The sniffer claims the frame with that PC and that
// SP. PREVIOUS is the frame that the debugger has interrupted: all its registers are known. So the stack
// of a thread in the middle of a call goes on to where the thread was.
//
// It stands first in a table: no code is at PC that any other sniffer should look at. A table that has walked a
// stack through PC before the call may have kept another row for it: a debugger forgets a table's rows when
// the process has run (frame.Table.Forget).
package dummy
