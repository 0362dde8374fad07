package cfi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// compareFile compares a section of a file with the output of this machine's readelf: without the
// table of .eh_frame_hdr, and with it if there is one.
func compareFile(t *testing.T, path, section string, hasHeader bool) {
	t.Helper()
	o := parseOracle(t, readelf(t, "frames-interp", path, section), readelf(t, "frames", path, section))
	compareWays(t, path, section, hasHeader, o)
}

// compareWays compares a section that is read in each way: by the header and by the index, at once
// and page by page.
func compareWays(t *testing.T, path, section string, hasHeader bool, o oracle) {
	for _, paged := range []bool{false, true} {
		name := ""
		if paged {
			name = " by pages"
		}
		way := func(withHeader bool) func(*testing.T) {
			return func(t *testing.T) {
				in := load(t, path, section, withHeader)
				in.paged = paged
				compare(t, in, o)
			}
		}
		if hasHeader {
			t.Run("header"+name, way(true))
		}
		t.Run("index"+name, way(false))
	}
}

// All rows of all FDEs of this machine's own programs are as readelf has them.
func TestInstalledFiles(t *testing.T) {
	for _, path := range []string{
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib64/ld-linux-x86-64.so.2",
		"/bin/bash",
		"/usr/bin/gdb",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			compareFile(t, gdbtest.File(t, path), ".eh_frame", true)
		})
	}
	t.Run("cc1", func(t *testing.T) { // 440,000 rows
		gdbtest.NeedSoak(t)
		compareFile(t, compiler(t), ".eh_frame", true)
	})
}

// compiler returns the path of the C compiler itself, which gcc starts.
func compiler(t testing.TB) string {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "gcc"), "-print-prog-name=cc1").Output()
	if err != nil {
		t.Fatal(err)
	}
	return gdbtest.File(t, strings.TrimSpace(string(out)))
}

// build compiles a source of testdata with the tool's arguments.
func build(t *testing.T, tool string, args ...string) string {
	t.Helper()
	gdbtest.Tool(t, tool)
	out := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command(tool, append([]string{"-o", out}, args...)...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(msg), "cannot find") || strings.Contains(string(msg), "not supported") {
			gdbtest.Cannot(t, string(msg))
		}
		t.Fatalf("%v: %v\n%s", cmd, err, msg)
	}
	return out
}

// Each program compiled here has another form of call frame information.
func TestCompiledFiles(t *testing.T) {
	for _, test := range []struct {
		name, section string
		header        bool
		tool          string
		args          []string
	}{
		{"static", ".eh_frame", false, "gcc", []string{"-O2", "-static", "testdata/frames.c"}},
		{"drap", ".eh_frame", true, "gcc", []string{"-O2", "-mavx2", "-fno-omit-frame-pointer", "testdata/frames.c"}},
		{"exceptions", ".eh_frame", true, "g++", []string{"-O2", "testdata/exceptions.cc"}},
		{"exceptions static", ".eh_frame", false, "g++", []string{"-O2", "-static", "testdata/exceptions.cc"}},
		{"debug_frame CIE 1", ".debug_frame", false, "gcc", []string{"-O2", "-g", "-fno-asynchronous-unwind-tables", "-Wa,--gdwarf-cie-version=1", "testdata/frames.c"}},
		{"debug_frame CIE 3", ".debug_frame", false, "gcc", []string{"-O2", "-g", "-fno-asynchronous-unwind-tables", "-Wa,--gdwarf-cie-version=3", "testdata/frames.c"}},
		{"debug_frame CIE 4", ".debug_frame", false, "gcc", []string{"-O2", "-g", "-fno-asynchronous-unwind-tables", "-Wa,--gdwarf-cie-version=4", "testdata/frames.c"}},
		{"debug_frame DWARF 2", ".debug_frame", false, "gcc", []string{"-O2", "-g", "-gdwarf-2", "-fno-asynchronous-unwind-tables", "-fno-dwarf2-cfi-asm", "testdata/frames.c"}},
		{"debug_frame 64", ".debug_frame", false, "gcc", []string{"-O2", "-g", "-gdwarf64", "-fno-asynchronous-unwind-tables", "-fno-dwarf2-cfi-asm", "testdata/frames.c"}},
		{"large model", ".eh_frame", true, "gcc", []string{"-O2", "-mcmodel=large", "testdata/frames.c"}},
		{"no pic", ".eh_frame", true, "gcc", []string{"-O2", "-no-pie", "-fno-pic", "testdata/frames.c"}},
		{"gold", ".eh_frame", true, "gcc", []string{"-O2", "-fuse-ld=gold", "testdata/frames.c"}},
		{"i386", ".eh_frame", true, "gcc", []string{"-O2", "-m32", "-nostdlib", "-shared", "-fpic", "testdata/frames.c"}},
		{"i386 debug_frame", ".debug_frame", false, "gcc", []string{"-O2", "-g", "-m32", "-nostdlib", "-shared", "-fpic", "-fno-asynchronous-unwind-tables", "testdata/frames.c"}},
		{"go", ".debug_frame", false, "go", []string{"testdata/hello.go"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := test.args
			if test.tool == "go" {
				out := filepath.Join(t.TempDir(), "program")
				cmd := exec.Command(gdbtest.Tool(t, "go"), append([]string{"build", "-o", out}, args...)...)
				cmd.Env = append(os.Environ(), "GOARCH=amd64") // also where this test itself is emulated
				if msg, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, msg)
				}
				compareFile(t, out, test.section, test.header)
				return
			}
			compareFile(t, build(t, test.tool, args...), test.section, test.header)
		})
	}
}
