// Command sframe compares package sframe with libsframe, the library of binutils,
// on the same SFrame V3 sections in one run: looking random PCs up, and opening.
//
//	go run ./bench/sframe [-file FILE] [-rounds N]
//
// The functions are those of FILE (default: this machine's gdb), said in SFrame
// by package fromcfi, once or over and over, to make sections of 2,600 and of
// 100,000 functions. Each round times one after the other; the medians of the
// rounds and their ratio are printed. libsframe is had by libsframe.sh.
package main
