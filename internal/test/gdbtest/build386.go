//go:build linux

package gdbtest

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Debian's cross compiler for 32-bit x86, and where its libraries are.
const (
	compiler386  = "i686-linux-gnu-gcc"
	compilerXX   = "i686-linux-gnu-g++"
	libraries386 = "/usr/i686-linux-gnu/lib"
)

// Dynamic386 are flags of the linker for programs of 32-bit x86 that are not static.
var Dynamic386 = []string{"-Wl,-dynamic-linker," + libraries386 + "/ld-linux.so.2", "-Wl,-rpath," + libraries386, "-Wl,--disable-new-dtags"}

// Build386 is Build for programs of C and C++ for 32-bit x86, which the kernel of an amd64 machine
// runs. A program that is not static finds its libraries below Debian's folder of cross libraries.
func Build386(t testing.TB, src string, flags ...string) string {
	t.Helper()
	cmd := []string{Compiler386(t), "-pthread"}
	if filepath.Ext(src) == ".cc" {
		cmd = []string{Tool(t, compilerXX), "-std=c++17", "-pthread"}
	}
	cmd = append(cmd, flags...)
	if !slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "-static") || f == "-shared" }) {
		cmd = append(cmd, Dynamic386...)
	}
	return Compile(t, Testdata(t, "progs", src), append(cmd, "-ldl")...)
}

// Compiler386 returns the path of the C compiler for 32-bit x86 programs, which run here.
func Compiler386(t testing.TB) string {
	t.Helper()
	Need386(t)
	return Tool(t, compiler386)
}

// Need386 skips the test unless 32-bit x86 programs run here.
func Need386(t testing.TB) {
	t.Helper()
	Later(t, compiler386)
	if runtime.GOARCH != "amd64" {
		Cannot(t, "programs of 32-bit x86 do not run on "+runtime.GOARCH)
	}
	if why := runs386(); why != "" {
		Cannot(t, "the kernel runs no 32-bit programs: "+why)
	}
}

// runs386 says why the dynamic linker of 32-bit x86, if it is here, does not run; "" if it does.
var runs386 = sync.OnceValue(func() string {
	linker := libraries386 + "/ld-linux.so.2"
	if _, err := exec.LookPath(linker); err != nil {
		return "" // Build386 says which package is missing
	}
	if out, err := exec.Command(linker, "--version").CombinedOutput(); err != nil {
		return err.Error() + " " + string(out)
	}
	return ""
})
