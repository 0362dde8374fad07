// Package scan is the sniffer that looks for a return address on the stack, word by word, where
// nothing else tells where THIS has it. Whatever it finds is a guess, for old return addresses stay
// on stacks: it is the last sniffer of all, for crash reports, whose code is mostly not at hand.
// Breakpad's minidump_stackwalk looks at as many words.
//
// In frame 0, a link register that leads out of the function is the return address.
//
// A word can be a return address if it is in code, and a call is before it. Where the code cannot
// be read, a symbol must cover it, if its module has symbols. Of several such words the best
// counts, then the nearest:
//
//  1. its call goes to the function that THIS is in,
//  2. it does not tell where its call goes, or no symbols tell which function that is, or straight code there
//     ends in a jump,
//  3. its call goes to another function, which may have left by a tail call; or its code cannot be read, and it may as well be the address
//     of a function.
package scan
