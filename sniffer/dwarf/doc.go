// Package dwarf is the sniffer that reads DWARF call frame information: a
// module's .eh_frame and .debug_frame, opened where they lie and kept with the
// module. Where both speak of a PC, .debug_frame decides. Where neither does,
// .debug_frame of a separate debug file is asked ([target.Modules].DebugFile).
package dwarf
