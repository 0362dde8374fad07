// Command generate writes a layout of CRuby's structures, as the sources of a release have it:
//
//	go run ./language/ruby/generate DIR >layouts/N.M.txt
//
// The folder has the sources, after "./configure" and "make main" or "make id.h". The C compiler
// (CC, else cc) must be for a 64-bit processor.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sfwalk/sfwalk/language/internal/headers"
)

//go:embed probes.txt
var probes string

//go:embed before.h
var before string

//go:embed heap.txt
var heapProbes string

//go:embed heap.h
var beforeHeap string

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate DIR")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes the layout that the sources in a folder have.
func run(w io.Writer, dir string) error {
	// Functions of cont.c, whose structures are wanted, call others: nobody calls them.
	flags := []string{"-O1", "-static", "-Wl,--unresolved-symbols=ignore-all", "-I", dir, "-I", filepath.Join(dir, "include")}
	built, _ := filepath.Glob(filepath.Join(dir, ".ext", "include", "*")) // ruby/config.h of the processor
	for _, d := range built {
		flags = append(flags, "-I", d)
	}
	fmt.Fprintln(w, "# made by: go run ./language/ruby/generate, of its sources")
	if err := headers.Write(w, probes, before, flags); err != nil {
		return err
	}
	return headers.Write(w, heapProbes, beforeHeap, flags)
}
