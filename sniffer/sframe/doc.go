// Package sframe is the sniffer that reads SFrame sections: it finds a module's section, keeps it
// opened with the module, and turns its rows into [trad.Row]s. Registers that SFrame does not track
// stay untracked; later sniffers complete the row. If a linker has only put sections one behind the
// other, all parts serve. The sniffer declines where GCC's tables mix up the stack of a thunk with
// the function's stack.
package sframe
