package s390x

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/rowtest"
)

// TestDWARFNumbers: the numbers that unwind tables name registers by are the
// descriptor's.
func TestDWARFNumbers(t *testing.T) {
	var src strings.Builder
	src.WriteString("f:\n.cfi_startproc\n")
	for _, r := range Arch.Regs {
		if r.Num != PSWM && r.Num != PSWA { // which readelf has no name for
			fmt.Fprintf(&src, ".cfi_same_value %d\n", r.Num)
		}
	}
	src.WriteString("br %r14\n.cfi_endproc\n")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "f.s"), filepath.Join(dir, "f.o")
	if err := os.WriteFile(in, []byte(src.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(gdbtest.Tool(t, "s390x-linux-gnu-gcc"), "-c", "-o", out, in).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	var names []string
	rowtest.Lines(t, func(line string) {
		if _, name, ok := strings.Cut(line, "DW_CFA_same_value: "); ok {
			names = append(names, name)
		}
	}, "readelf", "-W", "--debug-dump=frames", out)
	i := 0
	for _, r := range Arch.Regs {
		if r.Num == PSWM || r.Num == PSWA {
			continue
		}
		// "r5", "r16 (f0)", "r48 (a0)"
		want := fmt.Sprintf("r%d (%s)", r.Num, strings.Replace(r.Name, "acr", "a", 1))
		if r.Num <= R15 {
			want = r.Name
		}
		if i >= len(names) || names[i] != want {
			t.Fatalf("%s: readelf names %v", want, names[i:])
		}
		i++
	}
}
