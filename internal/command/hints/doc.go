// Package hints says what helps where functions in a stack have no names: which package or server
// has the symbols of the system's libraries, which flag names files that are not here, and which
// flag has an interpreter or a compiler at run time tell the names of its functions.
//
// What enters: the frames of a walk ([Seen.Add]), and what is known of the process ([About]). What
// leaves: lines for the user, one a subject.
package hints
