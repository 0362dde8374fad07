// Package sniffer has the default order of the sniffers and finds them by name.
// Each sniffer is a package of its own below this one.
//
// The names, in the default order: sigtramp; sframe; go (functions of Go, by the table
// that every Go program has), go-systemstack, go-asmcgocall, go-cgocallback, go-morestack
// and go-mcall (where Go's run time changes stacks); fp, dwarf, hotspot (Java), prologue, fp-guess.
// With a folder of Breakpad's symbol files ([Options]) there is breakpad, behind dwarf; with
// one of Windows, pdata before it; scan, the last, is for crash reports.
package sniffer
