// Package ring has the ring buffers of perf_event_open(2): the kernel writes into them what
// programs do that run.
//
// A [Group] of events goes in; records of package [github.com/sfwalk/sfwalk/format/perfevent] come
// out, of all processors in the order of their times.
package ring
