//go:build linux

// Package cplusplus makes large C++ programs, for whatever reads debug information: programs of as
// many units as somebody asks for, each of which has types of its own for the templates of the
// standard library, compiled with -O2 -g. A unit has more than two megabytes of DWARF, and
// addresses at which twenty calls are inlined.
//
// It takes a folder and leaves the objects there, so that a larger program, or the same another
// time, takes little. It also chooses addresses of such a program to ask about.
package cplusplus
