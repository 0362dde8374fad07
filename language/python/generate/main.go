// Command generate writes a layout of CPython's structures, as the headers of a release have it:
//
//	go run ./language/python/generate -I DIR [-I DIR] [-D NAME=VALUE] >layouts/3.N.txt
//
// The folders have Python.h, and pyconfig.h where that is elsewhere. The C compiler
// (CC, else cc) must be for a 64-bit processor. -D Py_DEBUG is a debug build, -D Py_GIL_DISABLED=1
// a free-threaded one.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/language/internal/headers"
)

//go:embed probes.txt
var probes string

//go:embed before.h
var before string

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes the layout that the headers in the folders of args have.
func run(w io.Writer, args []string) error {
	fmt.Fprintf(w, "# made by: go run ./language/python/generate, with %s\n", strings.Join(definitions(args), " and "))
	return headers.Write(w, probes, before, compilerFlags(args))
}

// definitions are the arguments that tell what build the layout is of: not the folders, whose names
// are this machine's alone.
func definitions(args []string) (list []string) {
	for i, a := range args {
		if i > 0 && args[i-1] == "-D" {
			list = append(list, "-D "+a)
		}
	}
	return append(list, "its headers")
}

// compilerFlags returns the flags for the folders of args, and for the folders of internal headers
// below them.
func compilerFlags(args []string) []string {
	flags := append([]string{"-DPy_BUILD_CORE"}, args...)
	for i, a := range args {
		if i > 0 && args[i-1] == "-I" {
			flags = append(flags, "-I", filepath.Join(a, "internal"))
		}
	}
	return flags
}
