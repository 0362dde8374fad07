// Package dwarf is the sniffer that reads DWARF call frame information: a module's .eh_frame and
// .debug_frame. It reads them in place, and keeps them open with the module. If both cover a PC,
// .debug_frame decides, except in a Go program, where .eh_frame decides. If neither does, the
// sniffer reads .debug_frame of a separate debug file ([target.Modules].DebugFile).
package dwarf
