// Package dataflow is the analysis of prologue values: it follows the flow of control from a
// function's entry and finds, for each instruction, where the caller's registers are. It
// serves code that no unwind table describes.
//
// # Values
//
// The numbers that a function works on are not known, and need not be. Of a register or a
// word of the stack it is enough to know how it came about. A [Value] is one of these:
//
//   - not known;
//   - a constant;
//   - the CFA plus a constant: an address in the frame;
//   - what a register held on entry: the caller's value, for the registers that a call
//     preserves; the return address, for the link register or what stands for it where
//     a call pushes it;
//   - the address behind a call: what the link register holds when the call comes back;
//   - a fresh address plus a constant: where the stack pointer was set to by one
//     instruction, at no known distance from the CFA.
//
// Addition and subtraction of constants lead from values to values; whatever else an
// instruction computes is not known. Each frame can be told by its values: the CFA is at a
// known distance from a register that holds an address in the frame, and a register's
// caller has its value where the value on entry is, in a word of the stack or in a register.
//
// # States
//
// A [State] is what is known before one instruction: the value of each register, and of
// each word of the stack that holds something worth knowing (a value on entry, an address
// in the frame). Two things are taken on trust, for compiled code keeps to them: a store
// to an address that is not known does not hit what the function has saved, and what is
// beyond the stack pointer is dead.
//
// A stack pointer that is not known any more (behind alloca, or when the frame is realigned)
// gets a name of its own, the instruction that has set it. So what is saved from there on can
// be told apart, and found.
//
// # The join
//
// Where two ways meet, both states are true of some execution, and the state behind the join
// must be true of each. It keeps what both say, and loses the rest. A state therefore only ever
// loses, of a finite number of things: each instruction is executed again only while its state
// still loses, and the end does not depend on the order. What is left is true on every way
// that leads there, which is all that a row needs.
//
// # Blame
//
// What is not sound is where the ways come from. Calls are taken to return, and some do not:
// what follows them may be another function's code, or a way with a frame that this one has
// not. No compiler has two frames at one instruction, so a contradiction (two depths of the
// stack at one instruction, a register of the caller's in two places, a return from a wrong
// depth, a frame taken down that was never made) proves that one of the ways is never taken.
// The call that the way came through last is blamed, and all is done again without what
// follows it. A contradiction that no call explains leaves the analysis unsound: rows are
// guesses then.
//
// What the flow does not reach (the cases of a switch, what follows a call that does not
// return) is filled in by guessing, from the state of the body that stands before it in the
// code. A guess yields to what is certain, and its rows say that they are guesses.
//
// # Processors
//
// A processor is a [Machine]: its registers' tasks, and a decoder that says of each
// instruction what it does to values, in micro-operations ([Op]), and where control goes on.
// A push is a store and a sum, lmg several loads. What one processor alone has is in a few
// hooks, by name.
//
// [Execute] says what each micro-operation means. It is generic over the abstract domain: this
// analysis has the values above. Package arch/ahead executes the same micro-operations in a domain
// of its own, from an instruction on to the return. So does package internal/goruntime, through the
// words of memory that the run time keeps its stacks by. Only internal/goruntime knows addresses
// relative to the instruction ([PC]) and the thread's own storage ([Thread]).
//
// # Epilogues
//
// A way out is straight code from an instruction to a return or a jump that leaves the function.
// The way is an epilogue if its first instruction takes something of the frame down, or is the
// return, and the others do no more than that, or do not matter. One follower tells, for three
// questions:
//
//   - [Machine.ReadEpilogue] follows the way from an instruction, says of which kind it is, and gives
//     the row.
//   - [Machine.InEpilogue] knows where the function begins, too. It reports whether the instruction is
//     on a way that is an epilogue from an earlier instruction on.
//   - [Machine.ReadFrame] sets the row's flag trad.InPrologue if the state has lost some of the
//     frame and an epilogue is ahead, and while the frame is being set up. The flag is
//     for people that look at the row: neither a walker nor a sniffer asks for it.
package dataflow
