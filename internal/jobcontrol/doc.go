// Package jobcontrol has job control stop this process when that holds nobody else.
//
// Who stops threads of another process says so by [Hold] and [Release]. After [Defer], a signal
// that would stop this process meanwhile (SIGTSTP as of Ctrl-Z, SIGTTIN, SIGTTOU) waits until nobody
// is held. SIGSTOP can be neither caught nor put off.
package jobcontrol
