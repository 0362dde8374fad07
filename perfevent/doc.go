// Package perfevent reads what Linux's perf_event_open(2) tells of programs that run: samples of their registers and
// stacks, and the events by which mappings, threads and processes change.
//
// A Format says which fields records have; it reads the bodies of records into a [Sample], a [Mmap] and so on. The records
// come from the ring buffers of a [Group] of events that this program has opened, or from a file that perf has written. The format is that of
// include/uapi/linux/perf_event.h. Nothing that is read is trusted: a record that is too short for its fields
// is an error.
//
// The package knows nothing of frames.
package perfevent
