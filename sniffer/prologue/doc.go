// Package prologue is the sniffer for code that no table describes. It reads the
// machine code of the function, from its symbol on, to find how far the frame is
// set up at the PC, or it recognizes the epilogue that the PC is in. For code that the
// compiler has moved out of a function (foo.cold), it follows the flow of control from the
// function's own symbol. If no symbol tells where the function begins, it follows the code from PC
// to the function's return, or finds the beginning by the stack or by the tables of the
// functions around. If the code finds its frame by the frame pointer, the frame record counts more than
// other guesses. It declines if the return address that it finds follows no call.
//
// It also answers for a frame 0 with a PC outside code: a call through a bad function pointer has led
// there, and nothing is set up yet. It answers for a thread that has just been made, and for the code at an
// entry point, which no call has led to.
package prologue
