// Command generate writes a layout of PHP's structures, as the headers of a release have it:
//
//	go run ./language/php/generate [-D ZTS=1] DIR >language/php/layouts/API.txt
//
// The folder is the one that `php-config --include-dir` prints; it has main, Zend, TSRM. API is
// the number ZEND_MODULE_API_NO, with "-zts" for a build whose threads have globals of their own.
// The C compiler (CC, else cc) must be for a 64-bit processor.
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
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes the layout that the headers in the folder at the end of args have.
func run(w io.Writer, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("which folder has the headers?")
	}
	dir := args[len(args)-1]
	flags := args[: len(args)-1 : len(args)-1]
	flags = append(flags, "-D_GNU_SOURCE") // the headers call memrchr of libc's, as all of PHP does
	for _, sub := range []string{"", "main", "TSRM", "Zend"} {
		flags = append(flags, "-I", filepath.Join(dir, sub))
	}
	fmt.Fprintln(w, "# made by: go run ./language/php/generate")
	return headers.Write(w, probes, before, flags)
}
