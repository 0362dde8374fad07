package rowtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// AfterCall demands of Arch.AfterCall that it sees every call that objdump shows from behind, at
// least so many, and that at most so many of a thousand other instructions look like a call by
// accident.
func (p *Processor) AfterCall(t *testing.T, file string, least, most int, isCall func(text string) bool) {
	t.Helper()
	pcs, text := p.Instructions(t, file)
	calls, rest, taken := 0, 0, 0
	for _, s := range Open(t, file) {
		data, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		for i, pc := range pcs {
			if pc < s.Addr || i+1 == len(pcs) || pcs[i+1] > s.Addr+s.Size {
				continue
			}
			end := int(pcs[i+1] - s.Addr)
			got := p.Arch.AfterCall(data[max(0, end-arch.MaxCall):end])
			if isCall(text[pc]) {
				if calls++; !got {
					t.Errorf("%s %#x: %s: no call seen", file, pc, text[pc])
				}
				continue
			}
			rest++
			count(&taken, got)
		}
	}
	t.Logf("%s: %d calls; %d of %d others look like one", file, calls, taken, rest)
	if calls < least || taken*1000 > rest*most {
		t.Errorf("%s: %d calls, %d of %d others taken for one", file, calls, taken, rest)
	}
}

// DWARFNumbers demands that the numbers by which unwind tables name registers are the
// descriptor's. name is a register as readelf names it, "" for one that it cannot name; ret is
// the instruction that returns.
func (p *Processor) DWARFNumbers(t *testing.T, ret string, name func(r arch.RegInfo) string) {
	src := "f:\n.cfi_startproc\n"
	var got, want []string
	for _, r := range p.Arch.Regs {
		if name(r) != "" {
			src += fmt.Sprintf(".cfi_same_value %d\n", r.Num)
			want = append(want, name(r))
		}
	}
	in, out := filepath.Join(t.TempDir(), "f.s"), filepath.Join(t.TempDir(), "f.o")
	if err := os.WriteFile(in, []byte(src+ret+"\n.cfi_endproc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(gdbtest.Tool(t, p.CC), "-c", "-o", out, in).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	Lines(t, func(line string) {
		if _, name, ok := strings.Cut(line, "DW_CFA_same_value: "); ok {
			got = append(got, name)
		}
	}, "readelf", "-W", "--debug-dump=frames", out)
	if !slices.Equal(got, want) {
		t.Errorf("readelf names %q, want %q", got, want)
	}
}
