// Command generate writes a layout of Tcl's structures, as the headers of a release have it:
//
//	go run ./language/tcl/generate DIR >language/tcl/layouts/N.M.txt
//
// The folder is the one with tcl.h. Debian's packages tcl8.6-dev and tcl9.0-dev have Tcl's own
// headers below it, in tcl-private. The C compiler (CC, else cc) must be for a 64-bit processor.
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

// run writes the layout that the headers in a folder have.
func run(w io.Writer, dir string) error {
	var flags []string
	for _, sub := range []string{"", "tcl-private/generic", "tcl-private/unix"} {
		flags = append(flags, "-I", filepath.Join(dir, sub))
	}
	fmt.Fprintln(w, "# made by: go run ./language/tcl/generate")
	return headers.Write(w, probes, before, flags)
}
