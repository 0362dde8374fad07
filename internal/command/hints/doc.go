// Package hints says what helps where functions in a stack have no names: which package or server
// has the symbols of the system's libraries, which flag names files that are not here, and which
// flag has an interpreter or a compiler at run time tell the names of its functions. Where threads
// wait for locks, and the command does not say for which, it names the flag that does.
//
// What enters: the frames of a walk ([Seen.Add]), its threads that wait for locks
// ([Seen.AddWaiting]), and what is known of the process ([About]). What leaves: lines for the user,
// one a subject.
package hints
