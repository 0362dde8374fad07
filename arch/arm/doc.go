// Package arm describes 32-bit Arm for Linux: both instruction sets, A32 and Thumb, little-endian.
//
// A code address with bit 0 set is one of Thumb code; frames' PCs come without it. Where only code
// is at hand, a look at it tells which set it is: see thumb.go. Both conventions of frame pointers
// are known: r11 of A32 code, r7 of Thumb code.
//
// Registers have the numbers of DWARF for the Arm Architecture (AADWARF32, section 4.1).
package arm
