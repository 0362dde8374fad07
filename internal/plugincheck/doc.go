// Package plugincheck is a conformance test for plug-ins; 'sfwalk plugin check' prints its
// [Report]. An author can also call [Run] in a test of the plug-in.
//
// A report says for each check what was seen, and for each fault what to fix, in one sentence. Some
// checks speak the protocol themselves, because the host (package external) would hide a fault. The
// others use the host, as a user does: it walks recorded stacks with the plug-in and without.
package plugincheck
