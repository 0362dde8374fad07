// Package unwindtables opens the unwind tables of a module, each once: for the sniffers, which make
// rows of them, and for package symbol, which asks them where functions begin.
//
// In goes a [target.Module]; out come its sections of call frame information, its SFrame section,
// its index of exception tables (32-bit Arm) and its function table (Windows). What was opened
// stays with the module, and what belongs to a file is shared by all modules of the file.
package unwindtables
