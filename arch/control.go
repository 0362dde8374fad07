package arch

import "github.com/sfwalk/sfwalk/arch/control"

// Control is what a debugger must know of a processor to hold a thread and to have it do something
// else, on Linux.
type Control = control.Control

// ShadowStack is where the kernel tells that a thread has a shadow stack.
type ShadowStack = control.ShadowStack

// WidePart is the place of a part of a register in one of the kernel's register sets.
type WidePart = control.Part

// Types of notes with register sets (elf.h).
const (
	NTPRStatus = control.NTPRStatus
	NTFPRegs   = control.NTFPRegs
)
