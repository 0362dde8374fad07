//go:build linux

package delvetest

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// compileC compiles the C half without frame pointers, and removes the tables that would tell
// others than SFrame's readers how to unwind it.
const compileC = `cc -O2 -fomit-frame-pointer -Wa,--gsframe -c -o "$2.o" "$3" &&
objcopy -R .eh_frame -R .rela.eh_frame "$2.o" && ar rcs "$2" "$2.o" && rm "$2.o"`

// Cgo builds testdata/progs/delvecgo and returns its path. flags are flags of "go build".
func Cgo(t testing.TB, flags ...string) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	for _, tool := range []string{"cc", "objcopy", "ar"} {
		gdbtest.Tool(t, tool)
	}
	lib := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "delvecgo", "c", "delvecgo.c"), gdbtest.Tool(t, "bash"), "-c", compileC, "bash")
	return build(t, "delvecgo", []string{"CGO_ENABLED=1", "CGO_LDFLAGS=" + lib}, flags)
}

// Go builds testdata/progs/delvego for an architecture, and returns its path. flags are flags of
// "go build".
func Go(t testing.TB, arch string, flags ...string) string {
	t.Helper()
	if arch == "amd64" {
		gdbtest.NeedAMD64(t) // only an amd64 host runs it; an emulator runs arm64's
	}
	return build(t, "delvego", []string{"CGO_ENABLED=0", "GOARCH=" + arch}, flags)
}

// build builds a Go program, whatever compilers the environment names.
func build(t testing.TB, name string, env, flags []string) string {
	t.Helper()
	tool := gdbtest.Tool(t, "go")
	version, err := exec.Command(tool, "env", "GOVERSION").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := gdbtest.Testdata(t, "progs", name)
	// The name of a kept build is made from its inputs. The folder is one of them: it is in the
	// debug information.
	cmd := append([]string{gdbtest.Tool(t, "env"), "GOFLAGS=", "CC=cc", "CGO_CFLAGS=-O2 -g " + strings.Join(gdbtest.Undo("cc"), " "),
		"BUILT_BY=" + strings.TrimSpace(string(version)), "BUILT_IN=" + dir}, env...)
	cmd = append(append(cmd, tool, "build"), flags...)
	cmd = append(cmd, "-buildvcs=false") // behind flags that look like libraries
	return gdbtest.Compile(t, dir, cmd...)
}
