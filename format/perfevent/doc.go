// Package perfevent reads what Linux's perf_event_open(2) tells of programs that run: samples of
// their registers and stacks, and the events by which mappings, threads and processes change.
//
// A [Format] says which fields records have. It reads the bodies of records into a [Sample], a
// [Mmap] and so on. The records come from the ring buffers of a live kernel, or from a file that
// perf has written (format/perfdata). The layout is the one of include/uapi/linux/perf_event.h.
// Nothing that is read is trusted: a record that is too short for its fields is an error.
//
// The package knows nothing of frames.
package perfevent
