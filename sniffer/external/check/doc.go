// Package check is the conformance test for the author of a plug-in: what
// 'sfwalk plugin check' prints.
//
// What enters is a program's path; what leaves is a [Report]: what was asked of the
// plug-in, what was seen, and for each fault one sentence of what to fix. The plug-in is
// started and asked over the protocol itself where the host (package external) would hide
// a fault, and by the host where a user would see it: walking recorded stacks, with the
// plug-in and without.
package check
