// Package segments has the memory of a dead process that a file holds (a core file, a minidump): in
// segments, and, for unchanged memory that the file leaves out, in the files that were mapped.
package segments
