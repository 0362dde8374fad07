// Package prologue is the sniffer for code that no table describes: it reads the
// machine code of the function, from its symbol on, to find how far the frame is
// set up at the PC, or recognises the epilogue that the PC is in. Of a part that the
// compiler has put elsewhere (foo.cold) it follows the way there from the function's own
// symbol. Where no symbol tells where the function begins, it follows the code from PC to
// the function's return, or finds the beginning by the stack or by the tables of the
// functions around. It declines where the return address that it finds follows no call.
//
// It also answers for a frame 0 whose PC is no code at all: a call through a bad
// function pointer, which has set up nothing yet; for a thread that has just been made; and
// for the code at an entry point, which nobody has called.
package prologue
