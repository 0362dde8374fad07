//go:build linux

// Package lookup measures package sframe and libsframe, the library of binutils, on the same SFrame
// V3 sections: look-ups of random PCs, and opening a section.
//
// Package fromcfi describes the functions of a real program in SFrame. Some of them, or all over
// and over, make sections of 2,600 and of 100,000 functions.
package lookup
