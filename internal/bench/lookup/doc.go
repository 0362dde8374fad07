//go:build linux

// Package lookup measures package sframe and libsframe, the library of binutils, on the
// same SFrame V3 sections: looking random PCs up, and opening.
//
// The functions are those of a real program, said in SFrame by package fromcfi, some of
// them or all over and over, to make sections of 2,600 and of 100,000 functions.
package lookup
