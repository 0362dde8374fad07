//go:build linux

package build

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Binutils is the binutils of one of Debian's suites, with the tests of SFrame in its source.
type Binutils struct {
	Suite  string // Debian's name
	Source string // folder of the source tree, with nothing but the tests in it

	root, linker, libraries string
}

// Binutils returns the binutils of a suite of Debian for the processors that packages names, with
// the libraries that those need. The error wraps ErrMissing if they cannot be had.
func (d Dir) Binutils(suite string, packages ...string) (*Binutils, error) {
	args := append([]string{suite, "binutils-common", "libbinutils", "libc6", "zlib1g"}, packages...)
	dir, err := d.fetch("sframe/suites.sh", "binutils-"+suite, args...)
	if err != nil {
		return nil, err
	}
	b := &Binutils{Suite: suite, Source: filepath.Join(dir, "source"), root: filepath.Join(dir, "root")}
	// They need the C library of their suite.
	for _, lib := range []string{"usr/lib", "lib"} {
		if list, _ := filepath.Glob(filepath.Join(b.root, lib, "*-linux-gnu", "ld-linux*.so.*")); len(list) > 0 {
			b.linker = list[0]
			break
		}
	}
	if b.linker == "" {
		return nil, fmt.Errorf("%w: no dynamic linker in %s", ErrMissing, b.root)
	}
	triplet := filepath.Base(filepath.Dir(b.linker))
	b.libraries = filepath.Join(b.root, "usr/lib", triplet) + ":" + filepath.Join(b.root, "lib", triplet)
	return b, nil
}

// Command is a tool of binutils, such as "as", for a processor, such as "aarch64".
func (b *Binutils) Command(processor, tool string, args ...string) *exec.Cmd {
	program := filepath.Join(b.root, "usr/bin", processor+"-linux-gnu-"+tool)
	return exec.Command(b.linker, append([]string{"--library-path", b.libraries, program}, args...)...)
}
