//go:build linux

// Package plugin measures the cost of a third-party sniffer, which is a process of its own: of its
// start, of one question, of a frame of a deep stack, and of a whole attach.
//
// The plug-in (sniffer-jit) knows the machine code of internal/bench/programs/jit.c, which no other
// sniffer here can unwind. Its frames alternate with frames of compiled functions.
package plugin
