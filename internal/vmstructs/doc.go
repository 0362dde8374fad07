// Package vmstructs reads the tables that a Java virtual machine of the HotSpot family exports for
// its own debuggers (its serviceability agent), at gHotSpotVMStructs and similar symbols: the
// fields of its structures, the sizes of its types, its constants.
//
// The tables are always read from memory: in the file, most releases have zeros where the offsets
// will be. They differ between releases. A name that a release lacks is not in its tables, and
// nobody guesses an offset for it.
//
// With them the package finds the code that the machine has made: blobs in its code cache, and the
// interpreter's codelets.
package vmstructs
