// Command generate writes a layout of the structures of Erlang's run time system, as the headers of
// a release have it:
//
//	go run ./language/beam/generate TREE jit >internal/erts/layouts/N-jit.txt
//	go run ./language/beam/generate TREE emu >internal/erts/layouts/N-emu.txt
//
// TREE is a source tree of OTP in which erts/configure has run. It needs perl, and a C compiler
// (CC, else cc) for a 64-bit processor.
//
//	go run ./language/beam/generate beam.smp 27-jit.txt 29-jit.txt >internal/erts/layouts/28-jit.txt
//
// does it from the debug information of a run time system, by gdb. Constants are not in there: the
// ones are taken in which the layouts of the releases before and after agree.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/language/internal/headers"
)

//go:embed probes.txt
var probes string

//go:embed before.h
var before string

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: generate TREE jit|emu\n       generate PROGRAM LAYOUT...")
		os.Exit(2)
	}
	write := func() error { return run(os.Stdout, os.Args[1], os.Args[2]) }
	if flavour := os.Args[2]; flavour != "jit" && flavour != "emu" {
		write = func() error { return runDebug(os.Stdout, os.Args[1], os.Args[2:]) }
	}
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes the layout that the headers of a tree have.
func run(w io.Writer, tree, flavour string) error {
	tree, err := filepath.Abs(tree)
	if err != nil {
		return err
	}
	version, err := os.ReadFile(filepath.Join(tree, "OTP_VERSION"))
	if err != nil {
		return err
	}
	configured, err := filepath.Glob(filepath.Join(tree, "erts/*/config.h"))
	if err != nil || len(configured) != 1 {
		return fmt.Errorf("erts/configure has not run once in %s", tree)
	}
	made, err := os.MkdirTemp("", "headers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	emulator := filepath.Join(tree, "erts/emulator")
	if err := makeHeaders(emulator, made, flavour); err != nil {
		return err
	}
	target := filepath.Base(filepath.Dir(configured[0]))
	flags := []string{"-DHAVE_CONFIG_H", "-D_GNU_SOURCE", "-DUSE_THREADS", "-D_THREAD_SAFE", "-D_REENTRANT", "-DPOSIX_THREADS", "-D_POSIX_THREAD_SAFE_FUNCTIONS",
		"-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-Wl,--unresolved-symbols=ignore-all", "-I" + made}
	if flavour == "jit" {
		flags = append(flags, "-DBEAMASM=1")
	}
	for _, dir := range []string{"../" + target, "beam", "sys/unix", "sys/common", "drivers/common", "beam/" + flavour, "pcre", "openssl/include", "../include", "../include/internal", "../include/" + target, "../include/internal/" + target} {
		flags = append(flags, "-I"+filepath.Join(emulator, dir))
	}
	fmt.Fprintf(w, "# made by: go run ./language/beam/generate, from OTP %s, %s\n", strings.TrimSpace(string(version)), flavour)
	return headers.Write(w, probes, before, flags)
}

// makeHeaders makes the headers that the emulator's build makes, in a folder.
func makeHeaders(emulator, dir, flavour string) error {
	perl := func(args ...string) error {
		c := exec.Command("perl", args...)
		c.Dir = emulator
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", args[0], err, out)
		}
		return nil
	}
	if err := perl("utils/make_alloc_types", "-src", "beam/erl_alloc.types", "-dst", filepath.Join(dir, "erl_alloc_types.h"), "threads", "unix", "opt"); err != nil {
		return err
	}
	if err := perl("utils/make_tables", "-src", dir, "-include", dir, "beam/atom.names", "beam/bif.tab"); err != nil {
		return err
	}
	// The instructions do not matter, their header is needed alone.
	return os.WriteFile(filepath.Join(dir, "beam_opcodes.h"), nil, 0o600)
}
