// Package control has what a debugger must know of a processor to hold a thread of Linux and to
// have it do something else. Who embeds sfwalk has it as arch.Arch.Control. The package imports
// nothing, so that a guard (package internal/guard) begins early.
package control
