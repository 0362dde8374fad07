package logical_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

const (
	functions = 40 // of a generated program
	threads   = 24 // each takes another way through the functions
)

// generate writes a program of functions that call each other and jump to each other. A number says
// which way a thread takes: each function looks at some bits of it and hands on the rest. The last
// function blocks. inline says that some calls are inlined. If inLib is not nil, it says which
// functions are in the library; generate writes that as well.
func generate(r *rand.Rand, inline bool, inLib func(i int) bool) (program, library string) {
	var text, lib, decls strings.Builder
	for i := range functions + 1 {
		fmt.Fprintf(&decls, "long f%d(unsigned long n);\n", i)
	}
	head := "#include \"ready.h\"\n#include <pthread.h>\n#include <stdlib.h>\nextern volatile long sink;\n" + decls.String()
	text.WriteString(head + "volatile long sink;\n")
	lib.WriteString(head)
	for i := range functions {
		out := &text
		if inLib != nil && inLib(i) {
			out = &lib
		}
		to := func() int { return min(i+1+r.IntN(6), functions) }
		back := r.IntN(i + 1)
		begin := fmt.Sprintf("NOINLINE long f%d(unsigned long n) {\n\tsink += %d;\n", i, i)
		switch r.IntN(9) {
		case 0, 1:
			fmt.Fprintf(out, "%s\treturn f%d(n >> 1);\n}\n", begin, to())
		case 2, 3:
			fmt.Fprintf(out, "%s\tif (n & 1)\n\t\treturn f%d(n >> 1);\n\treturn f%d(n >> 1);\n}\n", begin, to(), to())
		case 4:
			fmt.Fprintf(out, "%s\tlong r = f%d(n >> 1);\n\tKEEP(r);\n\treturn r + %d;\n}\n", begin, to(), i)
		case 5:
			fmt.Fprintf(out, "%s\tlong r = n & 1 ? f%d(n >> 1) : f%d(n >> 1);\n\tKEEP(r);\n\treturn r + %d;\n}\n", begin, to(), to(), i)
		case 6: // from a call that is inlined
			how := "static inline __attribute__((always_inline))"
			if !inline {
				how = "NOINLINE static"
			}
			fmt.Fprintf(out, how+" long in%d(unsigned long n) {\n\tsink ^= n;\n\treturn f%d(n >> 1);\n}\n", i, to())
			if r.IntN(2) == 0 {
				fmt.Fprintf(out, "%s\treturn in%d(n);\n}\n", begin, i)
			} else {
				fmt.Fprintf(out, "%s\tlong r = in%d(n);\n\tKEEP(r);\n\treturn r + %d;\n}\n", begin, i, i)
			}
		case 7: // back, as long as there are bits
			fmt.Fprintf(out, "%s\tif ((n & 7) == 7)\n\t\treturn f%d(n >> 3);\n\treturn f%d(n >> 3);\n}\n", begin, back, to())
		case 8:
			if r.IntN(4) == 0 { // only the program knows where to
				fmt.Fprintf(out, "static long (*volatile p%d)(unsigned long) = f%d;\n%s\treturn p%d(n >> 1);\n}\n", i, to(), begin, i)
			} else { // a part of its own for what is not likely
				fmt.Fprintf(out, "%s\tif (__builtin_expect(n == 12345, 0)) {\n\t\tready();\n\t\tabort();\n\t}\n\treturn f%d(n >> 1);\n}\n", begin, to())
			}
		}
	}
	fmt.Fprintf(&text, "NOINLINE long f%d(unsigned long n) {\n\tblock();\n\tKEEP(n);\n\treturn n;\n}\n", functions)
	text.WriteString("static void *begin(void *n) {\n\tlong r = f0((unsigned long)n);\n\tKEEP(r);\n\treturn NULL;\n}\n")
	text.WriteString("int main(void) {\n\tarm();\n\tpthread_t t;\n")
	for range threads {
		fmt.Fprintf(&text, "\tpthread_create(&t, NULL, begin, (void *)%#xul);\n", r.Uint64())
	}
	text.WriteString("\tready();\n\tblock();\n\treturn 0;\n}\n")
	return text.String(), lib.String()
}

// whole leaves each function in one part. If one on the way has several, gdb takes each part for a
// function that may have been called, and shows no tail calls at all.
const whole = "-fno-reorder-blocks-and-partition"

// TestGDB compares all frames of generated programs with gdb's.
func TestGDB(t *testing.T) {
	plain := []string{"-g", "-O2", whole}
	plain = plain[:len(plain):len(plain)]
	for i, tt := range []struct {
		name, source string
		flags        []string
		lib          bool
	}{
		{"C", "c", plain, false},
		{"C++", "cc", plain, false},
		{"DWARF 4", "c", append(plain, "-gdwarf-4"), false},
		{"DWARF 5, split", "c", append(plain, "-gdwarf-5", "-gsplit-dwarf"), false},
		{"DWARF 4, split", "c", append(plain, "-gdwarf-4", "-gsplit-dwarf"), false},
		{"O3 without PIE", "c", append(plain, "-O3", "-fno-pie", "-no-pie"), true},
		{"Os with frame pointers", "cc", append(plain, "-Os", "-fno-omit-frame-pointer"), true},
		{"library", "c", plain, true},
		{"library and LTO", "c", append(plain, "-flto"), true},
		{"shared by dwz", "c", plain, true},
		{"no tail calls", "c", append(plain, "-fno-optimize-sibling-calls"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gdbtest.NeedAMD64(t)
			r := rand.New(rand.NewPCG(uint64(i), 19))
			var inLib func(int) bool
			if tt.lib {
				inLib = func(i int) bool { return i/4%2 == 1 }
			}
			program, library := generate(r, !strings.Contains(tt.name, "split") && !strings.Contains(tt.name, "dwz"), inLib)
			compiler, head := "cc", ""
			if tt.source == "cc" {
				compiler, head = "c++", "extern \"C\" {\n#include \"ready.h\"\n}\n"
			}
			dir := t.TempDir()
			build := func(name, text string, flags ...string) string {
				source, out := filepath.Join(dir, name+"."+tt.source), filepath.Join(dir, name)
				if err := os.WriteFile(source, []byte(head+text), 0o644); err != nil {
					t.Fatal(err)
				}
				args := slices.Concat(gdbtest.Undo(compiler), []string{"-pthread", "-I", gdbtest.Testdata(t, "progs"), "-o", out, source}, tt.flags, flags)
				cmd := exec.Command(gdbtest.Tool(t, compiler), args...)
				cmd.Dir = dir
				if msg, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", cmd.Args, err, msg)
				}
				return out
			}
			var libs []string
			if tt.lib {
				libs = []string{build("library", library, "-shared", "-fPIC"), "-rdynamic", "-Wl,--allow-shlib-undefined", "-Wl,-rpath," + dir}
			}
			exe := build("program", program, libs...)
			if strings.Contains(tt.name, "dwz") {
				cmd := exec.Command(gdbtest.Tool(t, "dwz"), "-m", filepath.Join(dir, "shared"), exe, filepath.Join(dir, "library"))
				if msg, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", cmd.Args, err, msg)
				}
			}
			p := gdbtest.Start(t, exe)
			tails := compare(t, p.PID)
			t.Logf("%d tail calls", tails)
			if (tails > 0) != (tt.name != "no tail calls") {
				t.Errorf("%d tail calls", tails)
			}
		})
	}
}
