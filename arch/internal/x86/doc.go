// Package x86 decodes the instructions of x86 processors, of 32 bits and of 64, into the
// micro-operations of package arch/values. The descriptors of both (packages arch/i386 and
// arch/amd64) have a [Decoder] each.
package x86
