package command_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// withUnits builds a program whose DWARF is what the assembler makes of text.
func withUnits(t *testing.T, text string, flags ...string) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "dwarf.S")
	if err := os.WriteFile(source, []byte(".section .note.GNU-stack,\"\"\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := gdbtest.Build(t, "recurse.c", append(flags, "-O0", "-Wl,--compress-debug-sections=zlib", source)...)
	if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
		t.Fatal(info.Size(), err)
	}
	return path
}

// Each of 20,000 units has a table of thousands of abbreviations, which overlaps with the others'.
func TestOverlappingAbbreviations(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := withUnits(t, `
	.section .debug_abbrev,"",@progbits
table:	.rept 20000
	.byte 1, 0x11, 0, 3, 8, 0x11, 1, 0x12, 7, 0, 0
	.endr
	.byte 0
	.section .debug_info,"",@progbits
	.set i, 0
	.rept 20000
	.long 27
	.short 5
	.byte 1, 8
	.long table + 11 * (i % 10000)
	.byte 1
	.asciz "a"
	.quad main, 4096
	.set i, i + 1
	.endr
`)
	_, warnings := commandtest.Bounded(t, "symbols", "dump", program)
	if !strings.Contains(warnings, "too often") {
		t.Error(warnings)
	}
	p := gdbtest.Start(t, program, "3")
	if out, warnings := commandtest.Bounded(t, "attach", strconv.Itoa(p.PID)); !strings.Contains(out, " in main") {
		t.Errorf("%s\n%s", out, warnings)
	}
}

// Thousands of units name one file of split DWARF with thousands of units, which has the rest of
// the first alone.
func TestSharedSplitFile(t *testing.T) {
	gdbtest.NeedAMD64(t)
	const skeletons, units = 2000, 20000
	name := filepath.Join(t.TempDir(), "shared.dwo")
	program := withUnits(t, fmt.Sprintf(`
	.section .debug_abbrev,"",@progbits
table:	.byte 1, 0x4a, 0, 0x76, 8, 0x11, 1, 0x12, 7, 0, 0, 0
	.section .debug_info,"",@progbits
	.set i, 0
	.rept %d
	.long 2f - 1f
1:	.short 5
	.byte 4, 8
	.long table
	.quad i
	.byte 1
	.asciz %q
	.quad main, 4096
2:	.set i, i + 1
	.endr
`, skeletons, name))
	split := filepath.Join(t.TempDir(), "shared.S")
	if err := os.WriteFile(split, fmt.Appendf(nil, `
	.section .debug_abbrev.dwo,"e",@progbits
	.byte 1, 0x11, 1, 3, 8, 0, 0
	.byte 2, 0x2e, 0, 3, 8, 0x11, 1, 0x12, 7, 0, 0, 0
	.section .debug_info.dwo,"e",@progbits
	.set i, %d
	.rept %[1]d
	.set i, i - 1
	.long 2f - 1f
1:	.short 5
	.byte 5, 8
	.long 0
	.quad i * 1000000
	.byte 1
	.asciz "a"
	.byte 2
	.asciz "found"
	.quad 0x401000, 4096
	.byte 0
2:
	.endr
`, units), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gdbtest.Tool(t, "cc"), "-c", "-Wa,--compress-debug-sections=zlib", split, "-o", name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, warnings := commandtest.Bounded(t, "symbols", "dump", program)
	if !strings.Contains(warnings, "too often") {
		t.Error(warnings)
	}
	p := gdbtest.Start(t, program, "3")
	commandtest.Bounded(t, "attach", strconv.Itoa(p.PID))
}
