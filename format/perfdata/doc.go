// Package perfdata reads the files that Linux's perf record writes, perf.data: whole files, what is
// left of a file whose writer was killed, and the stream that perf record writes to a pipe.
//
// A [Reader] gives the records of package [github.com/sfwalk/sfwalk/format/perfevent], which the
// kernel has written, in the order of their times; it reads perf's own records itself. It goes
// through a file once, from front to back, and keeps a bounded window of it. In Linux's sources,
// tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.c describe the
// format. It is read in both byte orders. Nothing that is read is trusted. A record that cannot be
// read is left out, and counted.
//
// The package knows nothing of frames and processes.
package perfdata
