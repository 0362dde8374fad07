// Package trad holds the traditional frame row: where the registers of
// the PREVIOUS frame are, while THIS frame is at some PC.
//
// A [Row] is symbolic: it is true for every frame whose PC lies in its range,
// and it is what a sniffer answers. Its cells are [Rule]s: one each for the CFA,
// the return address and the frame pointer, and a shared [OtherRules] for whatever
// else the unwind information tracks. When a row is applied to one frame, the CFA is a number
// ([Row.Apply]), and each register of PREVIOUS has a [Place] ([Row.Place]), as in GDB's
// trad-frame cache.
//
// The words are GDB's trad-frame and DWARF's call frame information (DWARF 5,
// section 6.4). The package imports nothing of the project; registers and
// memory come in through [Env].
package trad
