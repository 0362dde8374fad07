//go:build linux

// Command names compares the names and lines that package symbol and llvm-symbolizer know, for
// addresses of a large C++ program, which it makes, or of any file.
//
//	go run ./internal/bench/big/names [-units N | -file FILE [-debug FILE]] [-n N] [-random]
//		[-rounds N] [-show N]
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/sfwalk/sfwalk/internal/bench/big"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/cplusplus"
	"github.com/sfwalk/sfwalk/internal/bench/llvm"
)

func main() {
	units := flag.Int("units", 90, "of how many `units` the program is")
	file := flag.String("file", "", "another `file`, with a symbol table and DWARF")
	debug := flag.String("debug", "", "the `file` that has the symbol table and DWARF of -file, if that is stripped")
	n := flag.Int("n", 4400, "the number of `addresses`")
	random := flag.Bool("random", false, "ask for any instruction, not for any function")
	shown := flag.Int("show", 3, "how many `differences` are shown")
	rounds := flag.Int("rounds", 3, "how often both are run, in turns")
	flag.Parse()
	if err := run(*file, *debug, *units, *n, *random, *rounds, *shown); err != nil {
		fmt.Fprintf(os.Stderr, "names: %v\n", err)
		os.Exit(1)
	}
}

func run(file, debug string, units, n int, random bool, rounds, shown int) error {
	ctx := context.Background()
	root, err := build.Root()
	if err != nil {
		return err
	}
	d, err := build.NewDir(root + "/.cache/bench")
	if err != nil {
		return err
	}
	if file == "" {
		if file, err = cplusplus.Program(ctx, d.Path, units); err != nil {
			return err
		}
	}
	choose := cplusplus.Profile
	if random {
		choose = cplusplus.Random
	}
	debug = cmp.Or(debug, file)
	addresses, err := choose(debug, n)
	if err != nil {
		return err
	}
	r, err := big.CompareNames(ctx, d, rounds, file, debug, addresses)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d addresses\n", file, n)
	fmt.Printf("ours    %v\nllvm    %v\n", r.Ours, r.Theirs)
	fmt.Printf("lines: ours %d, llvm-symbolizer %d\n", r.OurLines, r.TheirLines)
	x := r.Differences
	fmt.Printf("of %d addresses: no line %d, other inlined calls %d, another name %d, another line %d\n", x.Addresses, x.None, x.Chain, x.Name, x.File)
	for _, i := range x.Shown[:min(len(x.Shown), shown)] {
		fmt.Printf("\n%#x\n", r.Addresses[i])
		show("ours", r.OurFrames[i])
		show("llvm", r.TheirFrames[i])
	}
	for _, w := range r.Warnings {
		fmt.Println(w)
	}
	return nil
}

func show(who string, frames []llvm.Frame) {
	for _, f := range frames {
		fmt.Printf("  %s %.80s %s:%d\n", who, f.Function, f.File, f.Line)
	}
}
