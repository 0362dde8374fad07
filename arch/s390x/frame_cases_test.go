package s390x

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// code joins instructions.
func code(instructions ...string) (p []byte) {
	for _, in := range instructions {
		p = append(p, in...)
	}
	return p
}

// Instructions, as gcc 12 made them.
const (
	stmgR11  = "\xeb\xbf\xf0\x58\x00\x24" // stmg %r11,%r15,88(%r15)
	lay160   = "\xe3\xf0\xff\x60\xff\x71" // lay %r15,-160(%r15)
	lgrFP    = "\xb9\x04\x00\xbf"         // lgr %r11,%r15
	call     = "\xc0\xe5\x00\x01\x00\x00" // brasl %r14,+0x20000
	lmgR11   = "\xeb\xbf\xf0\xf8\x00\x04" // lmg %r11,%r15,248(%r15)
	lmgByFP  = "\xeb\xbf\xb0\xf8\x00\x04" // lmg %r11,%r15,248(%r11)
	br14     = "\x07\xfe"
	nopr     = "\x07\x07"
	ltgrR2   = "\xb9\x02\x00\x22"         // ltgr %r2,%r2
	ldgr0R11 = "\xb3\xc1\x00\x0b"         // ldgr %f0,%r11
	ldgr2R14 = "\xb3\xc1\x00\x2e"         // ldgr %f2,%r14
	ldgr4R15 = "\xb3\xc1\x00\x4f"         // ldgr %f4,%r15
	lgdrR11  = "\xb3\xcd\x00\xb0"         // lgdr %r11,%f0
	lgdrR14  = "\xb3\xcd\x00\xe2"         // lgdr %r14,%f2
	lgdrR15  = "\xb3\xcd\x00\xf4"         // lgdr %r15,%f4
	sgrR1    = "\xb9\x09\x00\xf1"         // sgr %r15,%r1
	lgR14    = "\xe3\xe0\x20\x00\x00\x04" // lg %r14,0(%r2)
)

func in(r trad.Reg, off int32) trad.Rule { return trad.Rule{Kind: trad.InReg, Reg: r, Off: off} }
func at(off int32) trad.Rule             { return trad.Rule{Kind: trad.Saved, Off: off} }

var same = trad.Rule{Kind: trad.Same}

// TestReadFrameCases: what the instructions' definitions say.
func TestReadFrameCases(t *testing.T) {
	for _, c := range []struct {
		name        string
		code        []byte
		pc          int
		cfa, ra, fp trad.Rule
	}{
		{"entry", code(stmgR11, lay160, call), 0, in(R15, 160), same, same},
		{"saved", code(stmgR11, lay160, call), 6, in(R15, 160), at(-48), at(-72)},
		{"frame", code(stmgR11, lay160, call), 12, in(R15, 320), at(-48), at(-72)},
		{"frame pointer", code(stmgR11, lay160, lgrFP, call), 16, in(R11, 320), at(-48), at(-72)},
		{"alloca", code(stmgR11, lay160, lgrFP, sgrR1, call, lmgByFP, br14), 20, in(R11, 320), at(-48), at(-72)},
		{"behind alloca", code(stmgR11, lay160, lgrFP, sgrR1, call, lmgByFP, br14), 32, in(R15, 160), at(-48), at(-72)},
		{"leaf", code(ltgrR2, br14), 4, in(R15, 160), same, same},
		{"leaf with FPRs", code(ldgr0R11, ldgr2R14, lgrFP, lgR14, lgdrR14, lgdrR11, br14), 18, in(R11, 160), in(F2, 0), in(F0, 0)},
		{"leaf with FPRs, behind", code(ldgr0R11, ldgr2R14, lgrFP, lgR14, lgdrR14, lgdrR11, br14), 26, in(R15, 160), same, same},
		{"leaf with its SP in an FPR", code(ldgr4R15, sgrR1, ltgrR2, lgdrR15, br14), 8, in(F4, 160), same, same},
		// r11 is a pointer to a buffer that is smaller than what the loop, which is never entered,
		// would fill (la %r11,8(%r15); xc 0(256,%r11),0(%r11)).
		{"memory is filled", code(stmgR11, lay160, "\x41\xb0\xf0\x08", "\xd7\xff\xb0\x00\xb0\x00", call), 22, in(R15, 320), at(-48), at(-72)},
		// A path that does not return, then one that does.
		{"noreturn", code(ltgrR2, "\xa7\x84\x00\x0b", stmgR11, lay160, call, br14), 26, in(R15, 160), same, same},
	} {
		row, _, why := Machine.ReadFrame(c.code, 0x1000, 0x1000+uint64(c.pc))
		if why != "" || row.CFA != c.cfa || row.RA != c.ra || row.FP != c.fp || row.Flags&trad.Guess != 0 {
			t.Errorf("%s: %s %q, want %v %v %v", c.name, row.Format(Arch.RegName), why, c.cfa, c.ra, c.fp)
		}
	}
}

func TestReadFrameDeclines(t *testing.T) {
	p := code(stmgR11, lay160, call, lmgR11, br14)
	for _, pc := range []uint64{0xfff, 0x1000 + uint64(len(p)), 1 << 63, 0} {
		if row, _, why := Machine.ReadFrame(p, 0x1000, pc); why == "" {
			t.Errorf("pc %#x: %s", pc, row.Format(Arch.RegName))
		}
	}
	if _, _, why := Machine.ReadFrame(nil, 0, 0); why == "" {
		t.Error("a row without code")
	}
	// The return address is gone.
	if row, _, why := Machine.ReadFrame(code(lgR14, nopr, br14), 0x1000, 0x1006); why == "" {
		t.Error(row.Format(Arch.RegName))
	}
	// Neither r11 nor r15 tells the CFA.
	if row, _, why := Machine.ReadFrame(code(stmgR11, sgrR1, nopr), 0x1000, 0x100a); why == "" {
		t.Error(row.Format(Arch.RegName))
	}
}

func TestReadEpilogueCases(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		want string // "" if none
	}{
		{"return", code(br14), "CFA=r15+160 RA=same FP=same in-prologue"},
		{"conditional return", code("\x07\x8e", ltgrR2), "CFA=r15+160 RA=same FP=same in-prologue"},
		{"frame", code(lmgR11, br14), "CFA=*(r15+280)+160 RA=[r15+272] FP=[r15+248] r12=[r15+256] r13=[r15+264] in-prologue"},
		{"frame pointer", code(lmgByFP, ltgrR2, br14), "CFA=*(r11+280)+160 RA=[r11+272] FP=[r11+248] r12=[r11+256] r13=[r11+264] in-prologue"},
		{"old processors", code(lmgR11, "\x07\xf4"), "CFA=*(r15+280)+160 RA=[r15+272] FP=[r15+248] r12=[r15+256] r13=[r15+264] in-prologue"},
		{"tail call", code(lmgR11, "\xc0\xf4\x00\x01\x00\x00"), "CFA=*(r15+280)+160 RA=[r15+272] FP=[r15+248] r12=[r15+256] r13=[r15+264] in-prologue"},
		{"leaf", code(lgdrR14, lgdrR11, br14), "CFA=r15+160 RA=f2 FP=f0 in-prologue"},
		{"leaf with its SP in an FPR", code(lgdrR15, br14), "CFA=f4+160 RA=same FP=same in-prologue"},
		{"moved up", code("\xa7\xfb\x00\xa0", br14), "CFA=r15+320 RA=same FP=same in-prologue"},
		{"moved up, then elsewhere", code("\xa7\xfb\x00\xa0", "\xa7\xf4\x00\x10"), "CFA=r15+320 RA=same FP=same guess in-prologue"},
		{"a frame of 1 GiB, runtime.call1073741824", code("\xe3\xe0\xf0\x00\x00\x04", "\xc2\xf8\x40\x00\x00\x08", br14), "CFA=r15+1073741992 RA=[CFA-1073741992] FP=same in-prologue"},
		{"a jump", code("\xa7\xf4\x00\x10"), ""},
		{"a body", code(ltgrR2, br14), ""},
		{"the case of a switch", code("\x07\xf1"), ""},
		{"the frame stays", code("\xe3\xb0\xf0\x58\x00\x04", br14), ""},
		{"cut off", code(lmgR11), ""},
		{"empty", nil, ""},
	} {
		row, out := Machine.ReadEpilogue(c.code, 0x1000)
		ok := out&arch.TearsDown != 0
		got := ""
		if ok {
			got = row.Format(Arch.RegName)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
