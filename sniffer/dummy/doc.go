// Package dummy is the sniffer of frames that stand for calls that a debugger has a thread make
// (GDB's dummy frames).
//
// The debugger enters each call into [Frames]: the address to which the function will return, its
// SP then, and the registers that the thread had before. The sniffer claims the frame with that PC
// and that SP. PREVIOUS is the frame that the debugger has interrupted: all its registers are
// known. So the stack of a thread in the middle of a call goes on to where the thread was.
//
// It stands first in a table: no code is at PC that any other sniffer should look at. PC may be
// where the process has code, such as the program's entry point, or on the stack. A table asks the
// sniffer although it has kept a row for PC: nobody need tell it that a call has begun.
package dummy
