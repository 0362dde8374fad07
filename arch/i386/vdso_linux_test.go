//go:build amd64

package i386

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
)

// TestVDSO compares the rows read from the code of the vDSO, in which blocked threads stand, with
// its own tables.
func TestVDSO(t *testing.T) {
	dir := t.TempDir()
	program, file := filepath.Join(dir, "vdso"), filepath.Join(dir, "vdso.so")
	if msg, err := exec.Command(gdbtest.Tool(t, "i686-linux-gnu-gcc"), "-static", "-o", program, "testdata/vdso.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	image, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, image, 0o600); err != nil {
		t.Fatal(err)
	}
	compareTable(t, file, 1)
	compareBlocked(t, file, "__kernel_vsyscall")
}

// TestVsyscall is TestVDSO for the code that the vDSO has on other processors.
func TestVsyscall(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vsyscall.so")
	if msg, err := exec.Command(gdbtest.Tool(t, "i686-linux-gnu-gcc"), "-nostdlib", "-shared", "-o", file, "testdata/vsyscall.S").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	compareTable(t, file, 3)
	for _, name := range []string{"by_sysenter", "by_syscall", "by_int"} {
		compareBlocked(t, file, name)
	}
}

// compareTable compares all rows of a file with its table.
func compareTable(t *testing.T, file string, functions int) {
	t.Helper()
	c := processor.Compare(t, file, 0)
	t.Log(c)
	if c.Wrong+c.Rules+c.WrongEpilogue+c.None+c.Unlike > 0 || c.Functions < functions {
		t.Errorf("%d wrong rows, %d rules, %d epilogues, %d without a row, in %d functions", c.Wrong, c.Rules, c.WrongEpilogue, c.None, c.Functions)
	}
}

// compareBlocked compares the row where a blocked thread stands, behind int $0x80 whatever
// instruction has entered the kernel, with readelf's. On the way, the kernel has given ebp the
// value that was pushed: the row must not rely on what the code had there.
func compareBlocked(t *testing.T, file, function string) {
	t.Helper()
	disassembly, err := exec.Command(gdbtest.Tool(t, "objdump"), "-d", "--no-show-raw-insn", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(disassembly)
	at := regexp.MustCompile(`(?m)^([0-9a-f]+) <` + function + `(@.*)?>:\n(?:.*\n)*?.*\tint +\$0x80\n +([0-9a-f]+):`).FindStringSubmatch(text)
	if at == nil {
		t.Fatalf("%s has no int $0x80:\n%s", function, text)
	}
	start, _ := strconv.ParseUint(at[1], 16, 32)
	pc, _ := strconv.ParseUint(at[3], 16, 32)
	code, _ := rowtest.Open(t, file).Code(t, start, pc+4, 0) // pop %ebp; pop %edx; pop %ecx; ret
	row, _, why := Machine.ReadFrame(code, start, pc)
	if got, want := row.Format(Arch.RegName), tableRow(t, file, pc); why != "" || got != want {
		t.Errorf("%s: the row at %#x is %s (%s), readelf has %s", function, pc, got, why, want)
	}
}

// tableRow returns the row that readelf shows for an instruction, as this project writes it.
func tableRow(t *testing.T, file string, pc uint64) string {
	t.Helper()
	frames, err := exec.Command(gdbtest.Tool(t, "readelf"), "-wF", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	row, end, columns := "", uint64(0), []string(nil)
	for line := range strings.Lines(string(frames)) {
		words := strings.Fields(line)
		if m := regexp.MustCompile(`pc=([0-9a-f]+)\.\.([0-9a-f]+)`).FindStringSubmatch(line); m != nil {
			end, _ = strconv.ParseUint(m[2], 16, 32)
			columns = nil
		}
		if len(words) > 2 && words[0] == "LOC" {
			columns = words
			continue
		}
		at, err := strconv.ParseUint(strings.Join(words[:min(1, len(words))], ""), 16, 32)
		if err != nil || len(words) != len(columns) || at > pc || pc >= end {
			continue
		}
		rules := map[string]string{"ebp": "u"}
		for i, c := range columns {
			rules[c] = words[i]
		}
		fp := "same"
		if rules["ebp"] != "u" {
			fp = "[CFA" + rules["ebp"][1:] + "]"
		}
		row = "CFA=" + rules["CFA"] + " RA=[CFA" + rules["ra"][1:] + "] FP=" + fp
	}
	return row
}
