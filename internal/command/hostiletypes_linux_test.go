package command

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// hostileTypes is debug information, by hand, of the function f with variables of the types at some
// labels.
func hostileTypes(types string, variables []string) string {
	var b strings.Builder
	abbrev := func(code, tag, children int, attrs ...int) {
		fmt.Fprintf(&b, " .uleb128 %d, %d\n .byte %d\n", code, tag, children)
		for i := 0; i < len(attrs); i += 2 {
			fmt.Fprintf(&b, " .uleb128 %d, %d\n", attrs[i], attrs[i+1])
		}
		b.WriteString(" .uleb128 0, 0\n")
	}
	const str, ref, expr, uleb, data8, addr, flag, data2 = 0x08, 0x13, 0x18, 0x0f, 0x07, 0x01, 0x19, 0x05
	b.WriteString(" .section .debug_abbrev,\"\",@progbits\n.Labbrevs:\n")
	abbrev(1, 0x11, 1, 3, str, 0x13, data2, 0x11, addr, 0x12, addr) // compile_unit
	abbrev(2, 0x2e, 1, 3, str, 0x11, addr, 0x12, addr, 0x40, expr)  // subprogram
	abbrev(3, 0x34, 0, 3, str, 0x49, ref, 2, expr)                  // variable
	abbrev(4, 0x01, 1, 0x49, ref)                                   // array_type
	abbrev(5, 0x21, 0, 0x37, data8)                                 // subrange_type
	abbrev(6, 0x26, 0, 0x49, ref)                                   // const_type
	abbrev(7, 0x04, 1, 3, str, 0x0b, uleb, 0x49, ref)               // enumeration_type
	abbrev(8, 0x01, 1, 0x49, ref, 0x2107, flag)                     // array_type, a vector
	abbrev(9, 0x13, 0, 3, str, 0x0b, uleb)                          // structure_type
	abbrev(10, 0x24, 0, 3, str, 0x0b, uleb, 0x3e, uleb)             // base_type
	b.WriteString(" .byte 0\n .section .debug_info,\"\",@progbits\n.Lunit: .long .Lend-.Lbegin\n.Lbegin: .short 5\n .byte 1, 8\n .long .Labbrevs\n")
	b.WriteString(" .uleb128 1\n .asciz \"hostile.c\"\n .short 0x1d\n .quad f, f_end\n")
	b.WriteString(regexp.MustCompile(`REF (\S+)`).ReplaceAllString(types, " .long $1-.Lunit"))
	b.WriteString(" .uleb128 2\n .asciz \"f\"\n .quad f, f_end\n .uleb128 1\n .byte 0x9c\n")
	for i, v := range variables {
		label, location, _ := strings.Cut(v, " ")
		if location == "" {
			location = ".byte 3\n .quad buffer"
		}
		fmt.Fprintf(&b, " .uleb128 3\n .asciz \"v%d\"\n .long %s-.Lunit\n .uleb128 .Lx%[1]d-.Lw%[1]d\n.Lw%[1]d: %[3]s\n.Lx%[1]d:\n", i, label, location)
	}
	b.WriteString(" .byte 0, 0\n.Lend:\n .section .note.GNU-stack,\"\",@progbits\n")
	return b.String()
}

// startHostile starts a program that waits in f.
func startHostile(t *testing.T, types string, variables []string) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	dir := t.TempDir()
	code := ` .text
 .globl f
f: .cfi_startproc
 sub $8,%rsp
 .cfi_adjust_cfa_offset 8
 call hold
 .cfi_endproc
f_end:
`
	const main = "#include <stdio.h>\n#include <unistd.h>\nlong buffer[4096]; void f(void);\n" +
		"void hold(void) { puts(\"ready\"); fflush(stdout); for (;;) pause(); }\nint main(void) { f(); }\n"
	for name, text := range map[string]string{"types.s": code + hostileTypes(types, variables), "main.c": main} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, dir, "gcc -O1 -no-pie -o hostile main.c types.s")
	return strconv.Itoa(gdbtest.Start(t, filepath.Join(dir, "hostile")).PID)
}

// A type that consists of itself ends neither the command nor the list of the other variables.
func TestTypesOfThemselves(t *testing.T) {
	const count = " .uleb128 5\n .quad 2\n .byte 0\n"
	types := ".Larray: .uleb128 4\nREF .Larray\n" + count +
		".Lconst: .uleb128 6\nREF .Lconst\n" +
		".Lofconst: .uleb128 4\nREF .Lconstof\n" + count + ".Lconstof: .uleb128 6\nREF .Lofconst\n" +
		".Lenum: .uleb128 7\n .asciz \"e\"\n .uleb128 4\nREF .Lenum\n .byte 0\n" +
		".Lvector: .uleb128 8\nREF .Lvectors\n" + count + ".Lvectors: .uleb128 6\nREF .Lvector\n" +
		".Lint: .uleb128 10\n .asciz \"int\"\n .uleb128 4, 5\n"
	variables := []string{".Larray", ".Lconst", ".Lofconst", ".Lenum", ".Lvector", ".Lint"}
	pid := startHostile(t, types, variables)
	for _, flags := range [][]string{nil, {"--json"}, {"--raw", "--explain"}, {"--print", "sizeof(v0)", "--print", "v3"}} {
		out, said, err := command(append([]string{"attach", pid, "--locals", "--frame", "f"}, flags...)...)
		if !strings.Contains(out, "v5 = 0") && !strings.Contains(out, `"name":"v5"`) {
			t.Errorf("%v: %v\n%s\n%s", flags, err, out, said)
		}
	}
}

// What many variables take together is bounded: arrays of arrays that have no bytes, arrays of any
// size, expressions without an end. What is left out is said.
func TestHostileVariables(t *testing.T) {
	types := ".Lint: .uleb128 10\n .asciz \"int\"\n .uleb128 4, 5\n.L0: .uleb128 9\n .asciz \"empty\"\n .uleb128 0\n"
	for i := range 40 {
		types += fmt.Sprintf(".L%d: .uleb128 4\nREF .L%d\n .uleb128 5\n .quad 1000000\n .byte 0\n", i+1, i)
	}
	types += ".Lhuge: .uleb128 4\nREF .Lint\n .uleb128 5\n .quad 1<<40\n .uleb128 5\n .quad 1<<40\n .byte 0\n"
	for _, tt := range []struct {
		name, variable string
		n              int
	}{
		{"arrays without bytes", ".L40", 40},
		{"huge arrays", ".Lhuge", 400},
		{"a loop", ".Lint .byte 0x2f\n .short -3", 20000},
		{"a loop that reads", ".Lint .byte 3\n .quad buffer\n .byte 6, 0x13, 0x2f\n .short -14", 20000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			variables := make([]string, tt.n)
			for i := range variables {
				variables[i] = tt.variable
			}
			pid := startHostile(t, types, variables)
			out, said, err := command("attach", pid, "--locals")
			if len(out) > 64<<20 || !strings.Contains(out, fmt.Sprintf("v%d = ", tt.n-1)) || !strings.Contains(said, "would take too long") {
				t.Errorf("%v, %d bytes\n%s\n%s", err, len(out), out[:min(len(out), 2000)], said)
			}
		})
	}
}
