// Command generate writes a layout of CPython's structures, as the headers of a release have it:
//
//	go run ./language/python/generate -I DIR [-I DIR] [-D NAME=VALUE] >layouts/3.N.txt
//
// The folders have Python.h, and pyconfig.h where that is elsewhere. The C compiler
// (CC, else cc) must be for a 64-bit processor. -D Py_DEBUG is a debug build, -D Py_GIL_DISABLED=1
// a free-threaded one.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

//go:embed probes.txt
var probes string

//go:embed before.h
var before string

// probe is an expression that may be the value of a field.
type probe struct{ name, expression string }

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes the layout that the headers in the folders of args have.
func run(w io.Writer, args []string) error {
	list, err := readProbes(probes)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "layouts")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// The compiler says which of the expressions name what the headers lack: those are left out.
	flags := compilerFlags(args)
	left, err := missing(dir, flags, list)
	if err != nil {
		return err
	}
	list = first(list, left)
	if left, err = missing(dir, flags, list); err != nil || len(left) > 0 {
		return fmt.Errorf("%d expressions cannot be compiled, %v", len(left), err)
	}
	file, program := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	if out, err := exec.Command(compiler(), append(flags, "-o", program, file)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "# made by: go run ./language/python/generate, with %s\n", strings.Join(definitions(args), " and "))
	_, err = w.Write(out)
	return err
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

func compiler() string {
	if cc := os.Getenv("CC"); cc != "" {
		return cc
	}
	return "cc"
}

// compilerFlags returns the flags for the folders of args, and for the folders of internal headers
// below them.
func compilerFlags(args []string) []string {
	flags := append([]string{"-w", "-DPy_BUILD_CORE", "-fmax-errors=0"}, args...)
	for i, a := range args {
		if i > 0 && args[i-1] == "-I" {
			flags = append(flags, "-I", filepath.Join(a, "internal"))
		}
	}
	return flags
}

// readProbes reads the table of fields.
func readProbes(text string) (list []probe, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("no expression in %q", line)
		}
		for _, x := range strings.Split(rest, "|") {
			list = append(list, probe{name, offsetOf(strings.TrimSpace(x))})
		}
	}
	return list, nil
}

var typeAndMember = regexp.MustCompile(`^(\w+)\.([\w.]+)$`)

// offsetOf writes TYPE.MEMBER in full.
func offsetOf(x string) string {
	if m := typeAndMember.FindStringSubmatch(x); m != nil {
		return fmt.Sprintf("offsetof(%s, %s)", m[1], m[2])
	}
	return x
}

// first returns the first probe of each name that is not left out.
func first(list []probe, left map[int]bool) (kept []probe) {
	for i, p := range list {
		if !left[i] && (len(kept) == 0 || kept[len(kept)-1].name != p.name) {
			kept = append(kept, p)
		}
	}
	return kept
}

var failed = regexp.MustCompile(`(?m)^probes:(\d+):.*error: `)

// missing compiles the probes, and returns the indexes of the ones that fail.
func missing(dir string, flags []string, list []probe) (map[int]bool, error) {
	var c bytes.Buffer
	c.WriteString(before)
	// Each probe has a line of its own, and a function: the compiler reports an unknown name once a
	// function.
	for i, p := range list {
		fmt.Fprintf(&c, "#line %d \"probes\"\nlong probe%d(void) { return (long)(%s); }\n", i+1, i, p.expression)
	}
	c.WriteString("int main(void) {\n")
	for i, p := range list {
		fmt.Fprintf(&c, "\tprintf(\"%%s %%ld\\n\", %s, probe%d());\n", strconv.Quote(p.name), i)
	}
	c.WriteString("\treturn 0;\n}\n")
	file := filepath.Join(dir, "layout.c")
	if err := os.WriteFile(file, c.Bytes(), 0o600); err != nil {
		return nil, err
	}
	out, err := exec.Command(compiler(), append(flags, "-fsyntax-only", file)...).CombinedOutput()
	left := map[int]bool{}
	for _, m := range failed.FindAllSubmatch(out, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		left[n-1] = true
	}
	if err != nil && len(left) == 0 {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return left, nil
}
