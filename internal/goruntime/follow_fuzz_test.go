package goruntime

import (
	"encoding/hex"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// FuzzFollow follows arbitrary code. Following must end, and the results must name registers that
// exist.
func FuzzFollow(f *testing.F) {
	for _, x := range []struct {
		cpu  uint8
		code string
	}{
		// gosave_systemstack_switch and mcall of Go 1.26 (go tool objdump).
		{0, "4c8d0d010d00004d894e404c8d4c24084d894e3849896e604d8b4e504d85c97405e83a260000c3"},
		{0, "554889e54889c24889e3488b5b0849895e40488d5c241049895e38488b5d0049895e60498b5e30488b334c39f67505e90c3d00004c89f04989f6644c893425f8ffffff498b663848c7c500000000504c8b2241ffd490"},
		// morestack_noctxt and a prologue with a large frame, of Go 1.26 for arm64.
		{1, "fa031f2adfffff17"},
		// A prologue and mcall of Go 1.26 for s390x.
		{2, "e3a0d0100004ecaf002aa065e3e0ffc0ff24e3ff0fc0ff71e3e0f00000240700a7fb004007feb904005ec0e5fffedcb9a7f4ffce"},
		{2, "b90400c2e3f0d0380024e3e0d0400024e548d0580000b904002de340d0300004e3d040000004c0e500001935b92000d2a7740005c0f400001bc6e340c0000004e3f0d0380004a7fbfff0"},
		{1, "900b40f9f44340d19f0210eb6900005494c21fd1bfd23fa99f020091fd2300d1"},
	} {
		code, err := hex.DecodeString(x.code)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(x.cpu, code)
	}
	f.Fuzz(func(t *testing.T, cpu uint8, code []byte) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			m := []*Machine{MachineOf(amd64.Arch), MachineOf(arm64.Arch), MachineOf(s390x.Arch)}[cpu%3]
			const lo = 0x400000
			name := func(addr uint64) string {
				return []string{"gosave_systemstack_switch", "runtime.save_g", "runtime.load_g", "", "runtime.abort"}[addr>>2%5]
			}
			flow := follow(m, code[:min(len(code), maxFunction)], lo, name, func(uint64) (int32, bool) { return 0, false })
			for addr, s := range flow.at {
				if addr-lo >= uint64(len(code)) {
					t.Fatalf("%#x is behind the code", addr)
				}
				a := solve(m, s, false)
				if a.Row.Others == nil {
					continue
				}
				last := -1
				for _, r := range a.Row.Others.Regs {
					if int(r.Reg) <= last || int(r.Reg) >= m.regs || r.Reg == m.sp && m != MachineOf(s390x.Arch) {
						t.Fatalf("%#x: registers %+v", addr, a.Row.Others.Regs)
					}
					last = int(r.Reg)
				}
				if a.Row.CFA.Kind == trad.NotTracked && a.Callback == nil || a.Row.RA.Kind == trad.Undefined {
					t.Fatalf("%#x: row %+v", addr, a.Row)
				}
			}
		})
	})
}
