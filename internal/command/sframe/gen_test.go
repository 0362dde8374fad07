//go:build linux

package sframe

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A function that Go's runtime has a thread call where it stands is left out: SFrame cannot say
// what was in x30 there.
func TestGenGo(t *testing.T) {
	program := gdbtest.Build(t, "gotarget", "GOARCH=arm64")
	section := filepath.Join(t.TempDir(), "section")
	_, report, err := commandtest.Execute(newSFrameGen(), program, "-o", section, "--verbose")
	if err != nil || !regexp.MustCompile(`a call that Go's runtime has put in\n(.*\n)* .*\(runtime\.asyncPreempt\)\n`).MatchString(report) {
		t.Errorf("%v\n%s", err, report)
	}
	symbols, err := exec.Command(gdbtest.Tool(t, "readelf"), "-sW", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile(`: 0*([0-9a-f]+) .* runtime\.asyncPreempt\.abi0\n`).FindStringSubmatch(string(symbols))
	if at == nil {
		t.Fatalf("no symbol:\n%s", symbols)
	}
	dump, _, err := commandtest.Execute(newSFrameDump(), section)
	if err != nil || !strings.Contains(dump, "func ") {
		t.Fatalf("%v\n%s", err, dump)
	}
	if strings.Contains(dump, at[1]) {
		t.Errorf("a function begins at %s:\n%s", at[1], dump)
	}
}

// TestGen makes sections from each form of file.
func TestGen(t *testing.T) {
	dir := t.TempDir()
	program := gdbtest.Build(t, "chain.c", "-g", "-O2", "-Wl,--build-id=0xabcdef0123456789")
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, report, err := commandtest.Execute(newSFrameGen(), program, "-o", folder); err != nil || !strings.Contains(report, "SFrame V3") {
		t.Errorf("%v\n%s", err, report)
	}
	if _, err := os.Stat(filepath.Join(folder, ".build-id", "ab", "cdef0123456789.sframe")); err != nil {
		t.Error(err)
	}

	// This separate debug file has .debug_frame alone.
	debugFrame := gdbtest.Build(t, "chain.c", "-g", "-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-Wl,--build-id")
	apart := filepath.Join(dir, "chain.debug")
	if out, err := exec.Command(gdbtest.Tool(t, "objcopy"), "--only-keep-debug", debugFrame, apart).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, report, err := commandtest.Execute(newSFrameGen(), apart, "-o", filepath.Join(dir, "apart")); err != nil {
		t.Errorf("%v\n%s", err, report)
	}

	libc := gdbtest.File(t, "/lib/x86_64-linux-gnu/libc.so.6")
	_, report, err := commandtest.Execute(newSFrameGen(), libc, "-o", filepath.Join(dir, "libc"), "--format", "2", "--verbose")
	for _, want := range []string{"SFrame V2", "left out: ", "     1  a signal frame\n", "PREVIOUS's SP is not what SFrame derives from the CFA at 0x"} {
		if err != nil || !strings.Contains(report, want) {
			t.Errorf("%v, want %q in\n%s", err, want, report)
		}
	}

	object := filepath.Join(dir, "chain.o")
	if out, err := exec.Command(gdbtest.Tool(t, "objcopy"), "-O", "elf64-x86-64", "-I", "binary", program, object).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	noID := gdbtest.Build(t, "chain.c", "-O2", "-Wl,--build-id=none")
	for _, tt := range []struct {
		args  []string
		usage bool
		want  string
	}{
		{[]string{program}, true, "-o OUT is missing"},
		{[]string{program, "-o", dir, "--format", "1"}, true, "want 2 or 3"},
		{[]string{noID, "-o", dir}, false, "-Wl,--build-id"},
		{[]string{object, "-o", filepath.Join(dir, "x")}, false, "relocatable"},
		{[]string{"/proc/self/status", "-o", filepath.Join(dir, "x")}, false, "not an ELF file"},
		{[]string{filepath.Join(dir, "nothing"), "-o", filepath.Join(dir, "x")}, false, "no such file"},
		{[]string{program, "-o", filepath.Join(program, "x")}, false, "not a directory"},
	} {
		_, _, err := commandtest.Execute(newSFrameGen(), tt.args...)
		if _, usage := err.(exit.Usage); err == nil || usage != tt.usage || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("gen %v: %v, want %q", tt.args, err, tt.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a file was written in spite of an error")
	}
}
