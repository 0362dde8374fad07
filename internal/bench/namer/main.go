//go:build linux

// Command namer says what is at addresses of a file, in the words of llvm-symbolizer: it is package
// symbol as a program, for comparisons.
//
//	namer FILE < ADDRESSES
//
// An address is one of the file's, in hexadecimal, on a line of its own. For each there are two
// lines for each inlined call, innermost first, and for the function: its name, and the file and
// the line; then an empty line. What is not known is "??", the line 0. What package symbol could
// not read is on standard error.
package main

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: namer FILE < ADDRESSES")
		os.Exit(2)
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	if err := name(os.Args[1], os.Stdin, out); err != nil {
		fmt.Fprintf(os.Stderr, "namer: %v\n", err)
		os.Exit(1)
	}
}

func name(path string, addresses io.Reader, out *bufio.Writer) error {
	module, file, err := open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	modules := target.NewModules([]*target.Module{module}, nil)
	names := symbol.New(symbol.Options{})
	for lines := bufio.NewScanner(addresses); lines.Scan(); {
		addr, err := strconv.ParseUint(strings.TrimPrefix(lines.Text(), "0x"), 16, 64)
		if err != nil {
			return err
		}
		for _, l := range names.Locate(modules, addr) {
			write(out, l)
		}
		out.WriteByte('\n')
	}
	err = out.Flush()
	for _, warning := range names.Warnings(module) {
		fmt.Fprintf(os.Stderr, "namer: %v\n", warning)
	}
	return errors.Join(err, names.Close())
}

// open returns the module that has the file's own addresses.
func open(path string) (*target.Module, *os.File, error) {
	im, file, err := elfimage.OpenFile(path)
	if err != nil {
		return nil, nil, err
	}
	var mappings []target.Mapping
	for _, p := range im.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			if p.Filesz == 0 {
				file.Close()
				return nil, nil, fmt.Errorf("%s has no code: it is a debug file; name the program that it belongs to", path)
			}
			mappings = append(mappings, target.Mapping{Lo: p.Vaddr, Hi: p.Vaddr + p.Memsz, Offset: p.Off, Exec: true})
		}
	}
	return target.NewModule(path, mappings, func() (*elfimage.Image, error) { return im, nil }), file, nil
}

func write(out *bufio.Writer, l symbol.Location) {
	function, file := l.Function, l.File
	if !l.Named() {
		function = "??"
	}
	switch {
	case file == "":
		file = "??"
	case !filepath.IsAbs(file):
		file = filepath.Join(l.Dir, file)
	}
	out.WriteString(function)
	out.WriteByte('\n')
	out.WriteString(file)
	out.WriteByte(':')
	out.WriteString(strconv.Itoa(l.Line))
	out.WriteByte('\n')
}
