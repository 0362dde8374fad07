// Package cpp lists the coroutines of C++20 in a process: where each is suspended, and which other
// one waits for it.
//
// A program has no list of its coroutines. But the frame of each begins with two pointers, to the
// function that resumes it and to the function that destroys it: the memory that the process can
// change is searched for such pairs. What no pointer leads to is free memory, or forgotten.
//
// In its frame a coroutine has the number of the point at which it is suspended. No table tells
// the line of that point; but the code stores the number just before, and that instruction has it.
// Debug information has the type of the promise: a std::coroutine_handle in it, or behind a pointer
// in it, leads to who waits.
package cpp
