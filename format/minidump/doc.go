// Package minidump reads minidumps: the crash reports of Windows (MiniDumpWriteDump), Breakpad and
// Crashpad, of any system and processor. It knows the format alone; target/minidump makes a target
// of a dump.
//
// [Open] reads all that a dump says but its memory, whose ranges it lists. A stream that is broken
// or cut short costs itself, and [File.Warnings] says so. A process need not have died for a dump
// to be written: [File.Died] tells. Nothing in the file is trusted: its bytes bound what is kept of
// it. [ReadMicrodumps] reads the short dumps that logs have.
//
// The format is Microsoft's (minidumpapiset.h); the streams above 0x47670000 are Breakpad's
// (google_breakpad/common/minidump_format.h), those above 0x43500000 are Crashpad's.
package minidump
