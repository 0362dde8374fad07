// Package lastwords finds what a process has said as it died: the text of a failed assertion, the
// type and the message of an exception that nobody has caught, the value of a panic.
//
// In goes a target, and the inner frames of a thread that is dying ([Dying] knows one by the names
// of its functions). Out come [Words], found where a run-time library keeps them in memory. The
// package believes no structure in part: a text is there only if all that leads to it agrees. Where
// nothing is certain, there are no words.
package lastwords
