// Package jobcontrol lets job control stop this process only while this process holds no threads of
// another.
//
// Code that stops threads of another process calls [Hold] before and [Release] after. After
// [Defer], a signal that would stop this process (SIGTSTP as of Ctrl-Z, SIGTTIN, SIGTTOU) waits
// until all threads are released. SIGSTOP can be neither caught nor put off.
package jobcontrol
