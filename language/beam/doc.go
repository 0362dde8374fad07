// Package beam decorates the stacks of Erlang's run time system, BEAM: the functions of Erlang and
// Elixir, with their files and lines, and the processes that the schedulers' threads run. It also
// lists all processes (--tasks).
//
// Compiled functions have physical frames, which the sniffer beam finds: they are named here. The
// stack of a process that no scheduler runs in compiled code is read from its record, as the run
// time system itself reads it: what is no value is a return address, the first of them the
// innermost.
package beam
