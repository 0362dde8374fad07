// Package goruntime knows what the toolchain and the runtime of Go leave in a module: the function
// table, and assembly functions whose code no table describes.
//
// [Table] finds the function table and keeps it with the module. It returns the table, open, with
// the address that functions are relative to; or, as quickly, an error that there is none. It finds
// the table also in files without symbols, without section headers, position independent, or linked
// by another linker than Go's, and in memory. The runtime's own description of the module (struct
// moduledata) points to the table and tells the rest. The table is believed only where moduledata
// agrees with it, and both agree with the file's executable segments.
//
// [Open] returns the [Program] of a module with Go code. [Program.Previous] says where a function
// of assembly has left its caller's registers. [Program.Layout] returns the [Layout] of the
// runtime's structs g and m. The package follows the code (follow) and describes each value by an
// expression over the registers that the function began with. It finds PREVIOUS's registers among
// these values (solve). It knows the releases of Go from 1.17 on, on amd64 and arm64; on s390x
// without C.
package goruntime
